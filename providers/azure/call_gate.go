package azure

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers/fault"
)

// gates keep calls back that Azure would refuse. An answer that asks for fewer
// calls closes one gate, that of the kind of resource and of reading or writing,
// for as long as the answer says: calls through it fail at once and without
// bothering Azure, and everything else goes on.
// Source: Azure Resource Manager documentation, throttling; the limits of resource
// providers are per operation.
type gates struct {
	mu    sync.Mutex
	until map[string]shut
}

// shut is a closed gate.
type shut struct {
	until time.Time
	code  string
}

// gateOf names the gate of a call: the type of resource, and whether it is read.
func gateOf(method, path string) string {
	_, rest, found := strings.Cut(lower(path), "/providers/")
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	if !found || len(parts) < 2 {
		return method
	}
	if method == http.MethodGet {
		return "reads of " + parts[1]
	}
	return "writes of " + parts[1]
}

// pass tells whether a call may be made; else what Azure said last.
func (g *gates) pass(gate string, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, closed := g.until[gate]
	if !closed {
		return nil
	}
	if left := s.until.Sub(now); left > 0 {
		return throttled(gate, s.code, left)
	}
	delete(g.until, gate)
	return nil
}

// close keeps calls back after Azure has asked for that. The fault is the same as
// that of the calls that are kept back, so that the user is told once.
func (g *gates) close(gate string, asked *fault.Fault, now time.Time) error {
	after := asked.After
	if after <= 0 {
		after = busyDelay
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.until == nil {
		g.until = map[string]shut{}
	}
	if until := now.Add(after); until.After(g.until[gate].until) {
		g.until[gate] = shut{until: until, code: asked.Code}
	}
	return throttled(gate, asked.Code, after)
}

func throttled(gate, code string, after time.Duration) error {
	return &fault.Fault{Meaning: fault.Throttled, After: after, Code: code, Text: "Azure takes no " + gate + " for the moment; they go on when it allows"}
}
