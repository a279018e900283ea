package models

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Call is a call that the simulator has performed.
type Call struct {
	HTTP            *http.Request
	Request, Answer []byte
}

// Recorder passes calls on to a simulator. It is safe for concurrent use.
type Recorder struct {
	// Simulator performs the calls.
	Simulator http.Handler
	// Judge returns the name of a call and its differences from the models. A call without a
	// name is not recorded.
	Judge func(Call) (name string, differences []string)

	mu    sync.Mutex
	calls map[string]bool
	found map[string]bool
}

// ServeHTTP implements http.Handler. Refused calls are passed on, and not judged.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	passed := req.Clone(req.Context())
	passed.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	r.Simulator.ServeHTTP(answer, passed)
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // a disconnected client is no difference
	if answer.Code < http.StatusBadRequest {
		r.note(Call{HTTP: req, Request: body, Answer: answer.Body.Bytes()})
	}
}

func (r *Recorder) note(c Call) {
	name, differences := r.Judge(c)
	if name == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls, r.found = map[string]bool{}, map[string]bool{}
	}
	r.calls[name] = true
	for _, d := range differences {
		r.found[d] = true
	}
}

// Calls returns the names of the recorded calls, sorted.
func (r *Recorder) Calls() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.calls))
}

// Check fails the test for each difference that does not end like a gap, and for each gap that
// no difference ends like. A gap has a reason and its source.
func (r *Recorder) Check(t *testing.T, gaps map[string]string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	used := map[string]bool{}
	for _, d := range slices.Sorted(maps.Keys(r.found)) {
		listed := false
		for gap := range gaps {
			if strings.HasSuffix(d, gap) {
				used[gap], listed = true, true
			}
		}
		if !listed {
			t.Error(d)
		}
	}
	for _, gap := range slices.Sorted(maps.Keys(gaps)) {
		if !used[gap] {
			t.Errorf("the gap %q is listed and does not occur", gap)
		}
	}
}
