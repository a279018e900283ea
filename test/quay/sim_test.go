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

// harbour is the simulator: the API of Quay over HTTP, with the journal and the faults
// that all simulators have. It knows nothing of the code it tests but the documents.
type harbour struct {
	sim.Control
	mu   sync.Mutex
	last int
	all  map[string]*document
	past sim.History[map[string]*document]
}

func newHarbour() *harbour {
	h := &harbour{all: map[string]*document{}}
	h.State = func() any {
		h.mu.Lock()
		defer h.mu.Unlock()
		return copied(h.all)
	}
	return h
}

// copied is a deep copy.
func copied(all map[string]*document) map[string]*document {
	out := map[string]*document{}
	for id, d := range all {
		c := *d
		c.Listeners, c.Machines = maps.Clone(d.Listeners), slices.Clone(d.Machines)
		out[id] = &c
	}
	return out
}

// ServeHTTP answers a call, unless a fault does.
func (h *harbour) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	write := r.Method != http.MethodGet
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	operation := r.Method + " " + path[len(path)/3*2] // balancers, machines or listeners
	met := h.Faults.Meet(r.Context(), "quay", operation, write)
	entry := sim.Entry{Time: time.Now(), Service: "quay", Operation: operation, Write: write, Faults: met.Kinds}
	var answer any
	if len(met.Errors) > 0 {
		f := met.Errors[0]
		entry.Status, answer = max(f.Status, http.StatusBadRequest), refused{Code: f.Code, Text: "injected"}
	} else {
		entry.Status, answer = h.serve(r, path, met.Stale)
		entry.Committed = entry.Status == http.StatusOK
	}
	h.Journal.Append(entry)
	if met.Cut {
		sim.HangUp(w)
		return
	}
	w.WriteHeader(entry.Status)
	_ = json.NewEncoder(w).Encode(answer) // a client that has gone away is no fault of ours
}

func (h *harbour) serve(r *http.Request, path []string, stale *sim.Fault) (int, any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	if r.Method == http.MethodGet {
		return http.StatusOK, slices.Collect(maps.Values(h.past.At(h.all, stale, now)))
	}
	if h.Faults.WantsHistory() {
		h.past.Keep(now, copied(h.all))
	} else {
		h.past.Forget()
	}
	if r.Method == http.MethodPost {
		return h.create(r)
	}
	d := h.all[path[1]]
	if d == nil {
		return http.StatusNotFound, refused{Code: "NotFound", Text: "no balancer " + path[1]}
	}
	switch r.Method + " " + strings.Join(path[2:min(3, len(path))], "") {
	case "DELETE ":
		delete(h.all, d.ID)
	case "PUT machines":
		return decoded(r, &d.Machines)
	case "PUT listeners":
		l := &Listener{}
		d.Listeners[path[3]] = l
		return decoded(r, l)
	case "DELETE listeners":
		delete(d.Listeners, path[3])
	}
	return http.StatusOK, nil
}

func (h *harbour) create(r *http.Request) (int, any) {
	d := &document{}
	if status, problem := decoded(r, d); problem != nil {
		return status, problem
	}
	for _, o := range h.all {
		if o.Name == d.Name {
			return http.StatusConflict, refused{Code: "NameTaken", Text: "balancer " + d.Name + " exists"}
		}
	}
	h.last++
	d.ID, d.Listeners = "b"+strconv.Itoa(h.last), map[string]*Listener{}
	h.all[d.ID] = d
	return http.StatusOK, d
}

func decoded(r *http.Request, to any) (int, any) {
	if err := json.NewDecoder(r.Body).Decode(to); err != nil {
		return http.StatusBadRequest, refused{Code: "Malformed", Text: err.Error()}
	}
	return http.StatusOK, nil
}
