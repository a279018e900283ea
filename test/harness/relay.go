package harness

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Relay forwards the requests of one program to a server and appends the name of the
// program to their User-Agent, by which the server's journal distinguishes replicas. It
// records the writes.
type Relay struct {
	URL string

	server *httptest.Server
	mu     sync.Mutex
	writes []Written
}

// Written is one write that a relay has forwarded.
type Written struct {
	Method, Path string
	Body         []byte
	Arrived      time.Time
	Status       int // 0: the server did not respond
}

// newRelay starts a relay to a server. A nil transport is the default one.
func newRelay(name, to string, transport http.RoundTripper) (*Relay, error) {
	target, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	r := &Relay{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			p.Out.Host = p.In.Host // links in responses must lead back to the relay
			p.Out.Header.Set("User-Agent", strings.TrimSpace(p.In.UserAgent()+" "+name))
		},
		Transport: recording{relay: r, next: transport},
		// A program that is killed disconnects; the test reports what matters.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	r.server = httptest.NewServer(proxy)
	r.URL = r.server.URL
	return r, nil
}

// relayToAPI starts a relay to the API server of a configuration, with its credentials.
func relayToAPI(name string, config *rest.Config) (*Relay, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	return newRelay(name, config.Host, transport)
}

// Writes returns the recorded writes in the order of their responses.
func (r *Relay) Writes() []Written {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.writes)
}

// close disconnects the program.
func (r *Relay) close() {
	r.server.CloseClientConnections()
	r.server.Close()
}

// recording is the transport of a relay.
type recording struct {
	relay *Relay
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t recording) RoundTrip(r *http.Request) (*http.Response, error) {
	next := t.next
	if next == nil {
		next = http.DefaultTransport
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return next.RoundTrip(r)
	}
	w := Written{Method: r.Method, Path: r.URL.Path, Arrived: time.Now()}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		w.Body, r.Body = body, io.NopCloser(bytes.NewReader(body))
	}
	response, err := next.RoundTrip(r)
	if err == nil {
		w.Status = response.StatusCode
	}
	t.relay.mu.Lock()
	t.relay.writes = append(t.relay.writes, w)
	t.relay.mu.Unlock()
	return response, err
}
