package virtual

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
)

// Disconnect has the default transport, and every transport that is copied from it, hand
// requests to the Answer of the listener that they are for. What a connection costs, three
// goroutines and their buffers, is most of a small request. Hosts without an Answer are
// reached over connections. It is called before the first request of the program.
func Disconnect(t *http.Transport) {
	plain := Transport()
	plain.DisableKeepAlives = t.DisableKeepAlives
	without := direct{plain}
	t.RegisterProtocol("http", without)
	// Copies have no registered protocols. They have the table of the protocols that a new
	// connection can have, and this entry takes over each connection.
	t.Protocols = &http.Protocols{}
	t.Protocols.SetUnencryptedHTTP2(true)
	takeOver := func(string, *tls.Conn) http.RoundTripper { return without }
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{"h2": takeOver, "unencrypted_http2": takeOver}
	t.DialContext = func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		return near, far.Close()
	}
}

// direct hands requests to listeners, and those for other hosts to a transport.
type direct struct{ plain http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	wires.Lock()
	l := wires.hosts[r.URL.Host[strings.LastIndexByte(r.URL.Host, '.')+1:]]
	wires.Unlock()
	if l == nil || l.Answer == nil {
		return d.plain.RoundTrip(r)
	}
	return l.Answer.RoundTrip(r)
}
