package virtual

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
)

// wires are the handlers of this program by name, beside the one default transport that
// a program has. Handlers of different tests never meet.
var wires struct {
	sync.Mutex
	install sync.Once
	hosts   map[string]*Listener
	opened  int // that there were
}

// Install has every client that takes its connections from [http.DefaultTransport], as
// the sessions of the product do, reach listeners of [Listen] by their names, and
// addresses of the loopback interface as ever.
func Install() {
	wires.install.Do(func() {
		enlargeStacks()
		wires.hosts = map[string]*Listener{}
		if used, ok := http.DefaultTransport.(*http.Transport); ok {
			unused := used.Clone()
			for _, t := range []*http.Transport{used, unused} {
				t.Proxy = nil
				t.MaxIdleConns = 0 // a test must not close the connections of another one
				bypassConnections(t)
			}
			// What was used or copied before, as by SDKs when they are loaded, has lost in its
			// copies how it answers without connections.
			http.DefaultTransport = unused
		}
	})
}

// Transport returns a transport that reaches the same.
func Transport() *http.Transport {
	t := newTransport()
	t.RegisterProtocol("http", direct{newTransport()})
	return t
}

// newTransport returns a transport that opens a connection to every host.
func newTransport() *http.Transport {
	return &http.Transport{DialContext: dialHost, MaxIdleConnsPerHost: 64}
}

// dialHost connects to the listener that the last label of a host names.
func dialHost(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if net.ParseIP(host) != nil {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	wires.Lock()
	l := wires.hosts[host[strings.LastIndexByte(host, '.')+1:]]
	wires.Unlock()
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: errors.New("no such host: " + host)}
	}
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.done:
	case <-ctx.Done():
	}
	return nil, errors.Join(near.Close(), far.Close(), net.ErrClosed)
}

// Listener hands out the far ends of pipes. Close is to be called, in the bubble that
// it was made in if there is one.
type Listener struct {
	// Name is the host name that clients use; any labels may stand before it.
	Name string
	// Answer serves plain requests without a connection; nil: clients open one. It is set before
	// the first request, as by [Listener.AnswerBy].
	Answer http.RoundTripper
	conns  chan net.Conn
	done   chan struct{}
	once   sync.Once
}

// Listen returns a new listener with a name of its own.
func Listen() *Listener {
	Install()
	wires.Lock()
	defer wires.Unlock()
	wires.opened++
	l := &Listener{conns: make(chan net.Conn), done: make(chan struct{}), Name: fmt.Sprintf("w%d", wires.opened)}
	wires.hosts[l.Name] = l
	return l
}

// AnswerBy serves plain requests by a handler, without a connection.
func (l *Listener) AnswerBy(h http.Handler) { l.Answer = handling{h} }

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.once.Do(func() {
		close(l.done)
		wires.Lock()
		defer wires.Unlock()
		delete(wires.hosts, l.Name)
	})
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: l.Name, Net: "pipe"} }
