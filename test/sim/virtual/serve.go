package virtual

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

const (
	// epilogue is in which what waits on timers of the past ends.
	epilogue = time.Hour
	// header is within which a client has to say what it wants.
	header = time.Hour
)

// startTime returns when virtual time begins: not before anything that a cloud is
// seeded with.
func startTime() time.Time { return time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC) }

// Test runs a test body in virtual time, which passes when all of its goroutines wait.
// The body uses servers that it starts itself with [Serve], and has no subtests.
func Test(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	Install()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		time.Sleep(time.Until(startTime()))
		t.Cleanup(func() { time.Sleep(epilogue) })
		body(t)
	})
}

// Fresh makes a cloud for a test.
func Fresh[Options any, Cloud http.Handler](t testing.TB, build func(Options) (Cloud, error), opt Options) Cloud {
	t.Helper()
	cloud, err := build(opt)
	if err != nil {
		t.Fatalf("simulator: %v", err)
	}
	return cloud
}

// Start serves a handler in memory until the test ends, and returns its URL.
func Start(t testing.TB, h http.Handler) (url string) {
	t.Helper()
	l := Listen()
	l.AnswerBy(h)
	t.Cleanup(func() { _ = l.Close() }) // never fails
	return "http://" + l.Name
}

// StartConnected serves a handler in memory over connections, for tests of what becomes of
// these, until the test ends, and returns its URL.
func StartConnected(t testing.TB, h http.Handler) (url string) {
	t.Helper()
	l := Listen()
	Serve(t, l, h)
	return "http://" + l.Name
}

// StartLoopback serves a handler on a free port until the test ends, and returns its
// URL: for clients that make their own connections, as those of metadata servers do, and
// for tests outside of virtual time.
func StartLoopback(t testing.TB, h http.Handler) (url string) {
	t.Helper()
	server := Loopback(h)
	t.Cleanup(server.Close)
	return server.URL
}

// distance is how long a request is on its way. In virtual time all running work has come to
// rest by then, so that the state at a response is the same on every machine, and no response
// overtakes the end of its request, which would cost the connection.
const distance = time.Millisecond

// Serve serves a handler on a listener until the test ends.
func Serve(t testing.TB, on net.Listener, h http.Handler) {
	t.Helper()
	far := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		time.Sleep(distance)
		h.ServeHTTP(w, r)
	})
	server := &http.Server{Handler: far, ReadHeaderTimeout: header}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// It ends with an error in any case, when the test closes it.
		_ = server.Serve(on)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
}

// Loopback serves a handler on a free port until it is closed, for what SDKs ask machines
// for outside of any one test: no connection outlives its answer, so that none holds up
// virtual time.
func Loopback(h http.Handler) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Config.SetKeepAlivesEnabled(false)
	s.Start()
	return s
}

// Run runs a subtest in virtual time, as [Test] does.
func Run(t *testing.T, name string, body func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Helper()
		Test(t, body)
	})
}

// Step runs a part of a test in virtual time, which has no subtests, and names it.
func Step(t *testing.T, name string, part func()) {
	t.Helper()
	t.Log("step: " + name)
	part()
}
