package virtual

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"time"
)

// tlsPort is where requests need a connection.
const tlsPort = "443"

// bypassConnections has a transport, and every transport that is copied from it, hand requests to
// the Answer of the listener that they are for. What a connection costs, three goroutines and
// their buffers, is most of a small request. Hosts without an Answer are reached over
// connections. It is called before the first request of the program.
func bypassConnections(t *http.Transport) {
	plain := newTransport()
	plain.DisableKeepAlives = t.DisableKeepAlives
	without := direct{plain}
	t.RegisterProtocol("http", without)
	// Copies have no registered protocols. They have the table of the protocols that a new
	// connection can have, and this entry takes over each connection that is not encrypted.
	t.Protocols = &http.Protocols{}
	t.Protocols.SetUnencryptedHTTP2(true)
	takeOver := func(string, *tls.Conn) http.RoundTripper { return without }
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{"h2": takeOver, "unencrypted_http2": takeOver}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, port, err := net.SplitHostPort(address); err == nil && port != tlsPort && answerOf(host) != nil {
			near, far := net.Pipe()
			return near, far.Close()
		}
		return dialHost(ctx, network, address)
	}
}

// direct hands requests to listeners, and those for other hosts to a transport.
type direct struct{ plain http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	if answer := answerOf(r.URL.Host); answer != nil {
		return answer.RoundTrip(r)
	}
	return d.plain.RoundTrip(r)
}

// answerOf returns the Answer of the listener that the last label of a host names; nil: a
// connection is needed.
func answerOf(host string) http.RoundTripper {
	wires.Lock()
	defer wires.Unlock()
	if l := wires.hosts[host[strings.LastIndexByte(host, '.')+1:]]; l != nil {
		return l.Answer
	}
	return nil
}

// handling answers requests with a handler.
type handling struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper. The handler runs where the client waits. It sees the
// end of the client's context, as over a connection.
func (h handling) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := ReadBody(r)
	if err != nil {
		return nil, err
	}
	ctx := r.Context()
	inner := Received(ending{ctx}, r, body)
	serve := func() (*http.Response, error) {
		return Respond(r, func(out http.ResponseWriter) { h.handler.ServeHTTP(out, inner) })
	}
	timer := time.NewTimer(distance)
	select {
	case <-timer.C:
	case <-ctx.Done():
		go func() { // what is under way arrives all the same
			<-timer.C
			_, _ = serve()
		}()
		return nil, ctx.Err()
	}
	response, err := serve()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return response, err
}

// ending is a context that ends with another one, and has none of its values.
type ending struct{ context.Context } //nolint:containedctx // it is a context itself

// Value implements context.Context.
func (ending) Value(any) any { return nil }

// ReadBody reads and closes the body of a request, and reports to its trace that it was
// sent, as a connection does: the call may take effect from now on.
func ReadBody(r *http.Request) ([]byte, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close() // it has been read
	}
	trace := httptrace.ContextClientTrace(r.Context())
	if trace != nil && trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
	if trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
	return body, nil
}

// Received returns a request as a server receives it.
func Received(ctx context.Context, r *http.Request, body []byte) *http.Request {
	at := *r.URL
	at.Path = cmp.Or(at.Path, "/") // as a request line has it
	inner := &http.Request{
		Method: r.Method, URL: &at, RequestURI: at.RequestURI(), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: "192.0.2.1:1234",
		Header: r.Header.Clone(), Host: cmp.Or(r.Host, r.URL.Host), ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	}
	return inner.WithContext(ctx)
}

// CutError returns the error of a client whose connection is cut before the answer.
func CutError() error { return &net.OpError{Op: "read", Net: "pipe", Err: io.ErrUnexpectedEOF} }

// Respond returns the response of a handler to a request.
func Respond(r *http.Request, handle func(http.ResponseWriter)) (response *http.Response, err error) {
	out := httptest.NewRecorder()
	defer func() {
		switch cause := recover(); cause {
		case nil:
			response = out.Result()
			response.Request = r
		case http.ErrAbortHandler:
			err = CutError()
		default:
			panic(cause)
		}
	}()
	handle(out)
	return response, err
}
