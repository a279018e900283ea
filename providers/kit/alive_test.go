package kit_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/providers/kit"
)

// wire is one end of a connection that can die: writes are then lost and reads block,
// without an error.
type wire struct {
	net.Conn
	dead   atomic.Bool
	closed chan struct{}
	once   sync.Once
}

// Read implements net.Conn.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if w.dead.Load() {
		<-w.closed
		return 0, net.ErrClosed
	}
	return n, err
}

// Write implements net.Conn.
func (w *wire) Write(p []byte) (int, error) {
	if w.dead.Load() {
		return len(p), nil
	}
	return w.Conn.Write(p)
}

// Close implements net.Conn.
func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return w.Conn.Close()
}

// pipes is a listener whose connections are in memory.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443} }

// TestAlive: an HTTP/2 connection that dies silently costs the calls of less than a
// minute, and then there is another one.
func TestAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor != 2 {
				t.Errorf("came by %s", r.Proto)
			}
		}))
		server.Listener, server.EnableHTTP2 = listener, true
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that died
		server.StartTLS()
		defer server.Close()
		var dialed []*wire
		defer func() {
			for _, w := range dialed {
				_ = w.Close()
			}
		}()
		transport, _ := server.Client().Transport.(*http.Transport)
		transport = kit.Alive(transport.Clone())
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			listener.conns <- far
			w := &wire{Conn: near, closed: make(chan struct{})}
			dialed = append(dialed, w)
			return w, nil
		}
		defer transport.CloseIdleConnections()
		call := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/", nil)
			if err != nil {
				return err
			}
			answer, err := transport.RoundTrip(request)
			if err != nil {
				return err
			}
			return answer.Body.Close()
		}
		if err := call(); err != nil {
			t.Fatal(err)
		}
		dialed[0].dead.Store(true)
		began, failed := time.Now(), 0
		for call() != nil {
			if failed++; failed > 20 {
				t.Fatal("it never comes back")
			}
		}
		if took := time.Since(began); took > time.Minute || failed == 0 || len(dialed) != 2 {
			t.Errorf("back after %v and %d calls in vain, over %d connections", took, failed, len(dialed))
		}
	})
}

// TestConnectionsAreAsked: a connection of a cloud that gives no sign of life is not kept.
func TestConnectionsAreAsked(t *testing.T) {
	if c := kit.Transport().HTTP2; c == nil || c.SendPingTimeout != 30*time.Second || c.PingTimeout != 15*time.Second {
		t.Errorf("HTTP/2 is %+v", c)
	}
}
