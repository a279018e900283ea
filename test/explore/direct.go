package explore

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"

	"github.com/berth-lb/berth/providers/kit"
)

// RoundTrip implements http.RoundTripper, for clients that need no connection.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	p := w.process(r.URL.Host)
	if p != nil && p.over() {
		return nil, cutError()
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close() // it has been read
	}
	reportWritten(r.Context())
	at := *r.URL
	at.Path = cmp.Or(at.Path, "/") // as a request line has it
	// A request that has arrived takes effect, even if its client has disconnected.
	inner := (&http.Request{Method: r.Method, URL: &at, Header: r.Header.Clone(), Host: cmp.Or(r.Host, r.URL.Host), ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body))}).WithContext(context.WithoutCancel(r.Context()))
	name, write := w.subject.Call(inner, body)
	if p == nil || name == "" {
		return respondWith(r, func(out http.ResponseWriter) { w.subject.Handler.ServeHTTP(out, inner) })
	}
	serve := func(d Deviation) (*http.Response, error) {
		defer p.standStill()
		return respondWith(r, func(out http.ResponseWriter) { w.serveCloud(out, inner, p.effect(d), name, write) })
	}
	if write {
		w.forbid(p, name)
	}
	point := w.gate.enter(Point{Process: p.id, Party: Cloud, What: name, Write: write, Urgency: kit.TurnOf(r.Context()).Urgency})
	select {
	case d := <-point.answer:
		return serve(d)
	case <-r.Context().Done():
		go func() { _, _ = serve(<-point.answer) }() // the client has disconnected
		return nil, r.Context().Err()
	}
}

// reportWritten reports to the trace of a request that it was sent, as a connection does: the call
// may take effect from now on.
func reportWritten(ctx context.Context) {
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
	if trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
}

// cutError returns the error of a client whose connection is cut before the answer.
func cutError() error { return &net.OpError{Op: "read", Net: "pipe", Err: io.ErrUnexpectedEOF} }

// respondWith returns the response of a handler.
func respondWith(r *http.Request, handle func(http.ResponseWriter)) (response *http.Response, err error) {
	out := httptest.NewRecorder()
	defer func() {
		switch cause := recover(); cause {
		case nil:
			response = out.Result()
			response.Request = r
		case http.ErrAbortHandler:
			err = cutError()
		default:
			panic(cause)
		}
	}()
	handle(out)
	return response, err
}
