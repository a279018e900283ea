package quay

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/berth-lb/berth/test/sim"
)

// Harbour is the API of Quay over HTTP, with the journal and the faults that all
// simulators have.
type Harbour struct {
	sim.Control
	mu   sync.Mutex
	last int
	now  inventory
	past sim.History[inventory]
}

// inventory is the complete state.
type inventory struct {
	balancers map[string]*balancer // by id
	openings  map[string]bool      // by name
}

// balancer is a load balancer as the API shows it.
type balancer struct {
	ID        string                     `json:"id"`
	Name      string                     `json:"name"`
	Mark      string                     `json:"mark"`
	Internal  bool                       `json:"internal"`
	Listeners map[string]json.RawMessage `json:"listeners"` // by slot
	Machines  []string                   `json:"machines"`
}

// problem is an answer that is no success. Refusals about what a request asks for have
// status 200, as those of some clouds have: the code alone tells them from successes.
type problem struct {
	Code string `json:"code"`
	Text string `json:"message"`
}

// MarshalJSON is what a list of everything answers.
func (i inventory) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"balancers": slices.Collect(maps.Values(i.balancers)), "openings": slices.Sorted(maps.Keys(i.openings))})
}

// New returns a harbour in which there is nothing.
func New() *Harbour {
	h := &Harbour{now: inventory{map[string]*balancer{}, map[string]bool{}}}
	h.State = func() any {
		h.mu.Lock()
		defer h.mu.Unlock()
		return map[string]any{"balancers": h.now.copied().balancers, "openings": maps.Clone(h.now.openings)}
	}
	return h
}

// copied is a deep copy.
func (i inventory) copied() inventory {
	out := inventory{map[string]*balancer{}, maps.Clone(i.openings)}
	for id, b := range i.balancers {
		c := *b
		c.Listeners, c.Machines = maps.Clone(b.Listeners), slices.Clone(b.Machines)
		out.balancers[id] = &c
	}
	return out
}

// ServeHTTP answers a call, unless a fault does.
func (h *Harbour) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.Handle(w, r, func() (*sim.Visit, func(int)) {
		path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
		v := &sim.Visit{Entry: sim.Entry{Time: time.Now(), Service: "quay", Write: r.Method != http.MethodGet}}
		v.Operation = r.Method + " " + path[len(path)/3*2] // inventory, balancers, openings, machines or listeners
		var answer any
		if met := v.Meet(r.Context(), &h.Faults); len(met.Errors) > 0 {
			f := met.Errors[0]
			v.Status, answer = max(f.Status, http.StatusBadRequest), problem{Code: f.Code, Text: "injected"}
		} else {
			v.Status, answer = h.serve(r, path, met.Stale)
			p, refused := answer.(problem)
			v.Code, v.Committed = p.Code, !refused
		}
		status := v.Status
		return v, func(int) {
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(answer) // a disconnected client is no fault of ours
		}
	})
}

func (h *Harbour) serve(r *http.Request, path []string, stale *sim.Fault) (int, any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Method == http.MethodGet {
		return http.StatusOK, h.past.At(h.now, stale, time.Now()).copied()
	}
	if h.Faults.WantsHistory() {
		h.past.Keep(time.Now(), h.now.copied())
	} else {
		h.past.Forget()
	}
	switch {
	case r.Method == http.MethodPost:
		return h.create(r)
	case path[0] == "openings" && r.Method == http.MethodPut:
		h.now.openings[path[1]] = true
		return http.StatusOK, nil
	case path[0] == "openings":
		delete(h.now.openings, path[1])
		return http.StatusOK, nil
	}
	b := h.now.balancers[path[1]]
	if b == nil {
		return http.StatusNotFound, problem{Code: "NotFound", Text: "no balancer " + path[1]}
	}
	return h.change(r, path, b)
}

func (h *Harbour) change(r *http.Request, path []string, b *balancer) (int, any) {
	switch r.Method + " " + strings.Join(path[2:min(3, len(path))], "") {
	case "DELETE ":
		delete(h.now.balancers, b.ID)
	case "PUT machines":
		return decoded(r, &b.Machines)
	case "PUT listeners":
		var l json.RawMessage
		status, answer := decoded(r, &l)
		b.Listeners[path[3]] = l
		return status, answer
	case "DELETE listeners":
		delete(b.Listeners, path[3])
	}
	return http.StatusOK, nil
}

func (h *Harbour) create(r *http.Request) (int, any) {
	b := &balancer{}
	if status, answer := decoded(r, b); answer != nil {
		return status, answer
	}
	for _, o := range h.now.balancers {
		if o.Name == b.Name {
			return http.StatusOK, problem{Code: "NameTaken", Text: "balancer " + b.Name + " exists"}
		}
	}
	h.last++
	b.ID, b.Listeners = "b"+strconv.Itoa(h.last), map[string]json.RawMessage{}
	h.now.balancers[b.ID] = b
	return http.StatusOK, b
}

func decoded(r *http.Request, to any) (int, any) {
	if err := json.NewDecoder(r.Body).Decode(to); err != nil {
		return http.StatusBadRequest, problem{Code: "Malformed", Text: err.Error()}
	}
	return http.StatusOK, nil
}
