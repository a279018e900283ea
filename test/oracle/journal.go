package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
)

// call is a request that a server has answered.
type call struct {
	method, path string
	status       int
}

// write reports whether the call may have changed something. Logging in does not count.
func (c call) write() bool { return c.method != http.MethodGet && c.path != "/v3/auth/tokens" }

// journal records all calls through its fronts.
type journal struct {
	mu      sync.Mutex
	calls   []call
	arrived map[call]int // requests by method and path
	servers []*http.Server
}

func newJournal() *journal { return &journal{arrived: map[call]int{}} }

// front opens an address that passes everything on to a port, and returns it. Writes may take
// turns, on a server that answers 500 to a write whose transaction began before another
// one's end, as sqlite demands.
func (j *journal) front(ctx context.Context, port int, takeTurns bool) (string, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	target, err := url.Parse(fmt.Sprintf("http://127.0.0.1:%d", port))
	if err != nil {
		return "", err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // links in answers lead here again
			j.mu.Lock()
			defer j.mu.Unlock()
			j.arrived[call{method: r.In.Method, path: r.In.URL.Path}]++
		},
		ModifyResponse: func(res *http.Response) error {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.calls = append(j.calls, call{res.Request.Method, res.Request.URL.Path, res.StatusCode})
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0), // a program that is killed disconnects
	}
	var turn sync.Mutex
	handler := func(w http.ResponseWriter, r *http.Request) {
		if takeTurns && r.Method != http.MethodGet {
			turn.Lock()
			defer turn.Unlock()
		}
		proxy.ServeHTTP(w, r)
	}
	server := &http.Server{Handler: http.HandlerFunc(handler)}
	j.servers = append(j.servers, server)
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			panic(err) // the loopback interface is down
		}
	}()
	return "http://" + l.Addr().String(), nil
}

// since are the calls after the first n.
func (j *journal) since(n int) []call {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]call(nil), j.calls[n:]...)
}

// countWaiting counts the requests of a method and path that have arrived and are not answered.
func (j *journal) countWaiting(method, path string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := j.arrived[call{method: method, path: path}]
	for _, c := range j.calls {
		if c.method == method && c.path == path {
			n--
		}
	}
	return n
}

func (j *journal) close() {
	for _, s := range j.servers {
		// No client is left.
		_ = s.Close()
	}
}
