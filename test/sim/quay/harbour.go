package quay

import (
	"cmp"
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
	// Busy is for how long a load balancer is busy after a change, its creation included; set
	// it before serving. 0: changes end before their answer.
	Busy time.Duration
	// PageSize is the greatest number of items on a page; 0: all.
	PageSize int

	mu     sync.Mutex
	last   int
	now    inventory
	past   sim.History[inventory]
	works  []work
	tokens map[string]string // works of creations, by token
}

// work is a work request: the creation of a load balancer.
type work struct {
	ID       string `json:"id"`
	State    string `json:"state"` // running or done
	Balancer string `json:"balancer,omitempty"`

	balancer string
	until    time.Time
}

// at returns the work request as the API shows it at a time.
func (w work) at(now time.Time) work {
	if w.State = "running"; !now.Before(w.until) {
		w.State, w.Balancer = "done", w.balancer
	}
	return w
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
	Notice    string                     `json:"notice"`
	State     string                     `json:"state,omitempty"` // busy or ready; in answers
	Listeners map[string]json.RawMessage `json:"listeners"`       // by slot
	Machines  []string                   `json:"machines"`

	until time.Time // busy until then
}

// at returns the load balancer as the API shows it at a time.
func (b balancer) at(now time.Time) balancer {
	if b.State = "ready"; now.Before(b.until) {
		b.State = "busy"
	}
	return b
}

// problem is an answer that is no success. Refusals about what a request asks for have
// status 200, as those of some clouds have: the code alone tells them from successes.
type problem struct {
	Code string `json:"code"`
	Text string `json:"message"`
}

// page is one page of a list.
type page struct {
	Items any    `json:"items"`
	Next  string `json:"next,omitempty"` // the last item of the page, unless the list ends with it
}

// pageOf returns the items after one, in order of their names.
func pageOf[T any](items []T, nameOf func(T) string, after string, size int) page {
	byName := func(a, b T) int { return strings.Compare(nameOf(a), nameOf(b)) }
	items = slices.DeleteFunc(items, func(v T) bool { return nameOf(v) <= after })
	if slices.SortFunc(items, byName); size <= 0 || len(items) <= size {
		return page{Items: append([]T{}, items...)}
	}
	return page{Items: items[:size], Next: nameOf(items[size-1])}
}

// New returns a harbour in which there is nothing.
func New() *Harbour {
	h := &Harbour{now: inventory{map[string]*balancer{}, map[string]bool{}}, tokens: map[string]string{}}
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
	h.Handle(w, r, func() (*sim.Visit, sim.Answer) {
		path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
		v := &sim.Visit{Entry: sim.Entry{Time: time.Now(), Service: "quay", Write: r.Method != http.MethodGet}}
		v.Operation = r.Method + " " + path[len(path)/3*2] // balancers, openings, works, machines or listeners
		var answer any
		if met := v.Meet(r.Context(), &h.Faults); len(met.Errors) > 0 {
			f := met.Errors[0]
			v.Status, answer = max(f.Status, http.StatusBadRequest), problem{Code: f.Code, Text: cmp.Or(f.Message, "injected")}
		} else {
			v.Status, answer = h.serve(r, path, met.Stale)
			p, refused := answer.(problem)
			v.Code, v.Committed = p.Code, !refused
		}
		status := v.Status
		return v, func(w http.ResponseWriter, _ int) {
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(answer) // a disconnected client is no fault of ours
		}
	})
}

func (h *Harbour) serve(r *http.Request, path []string, stale *sim.Fault) (int, any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Method == http.MethodGet {
		return h.list(path[0], r.URL.Query().Get("after"), h.past.At(h.now, stale, time.Now()).copied())
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
	if time.Now().Before(b.until) {
		return http.StatusOK, problem{Code: "BalancerBusy", Text: "balancer " + b.ID + " is busy with a change"}
	}
	status, answer := h.change(r, path, b)
	if answer == nil {
		b.until = time.Now().Add(h.Busy)
		answer = map[string]string{"state": b.at(time.Now()).State}
	}
	return status, answer
}

// list answers a reading call.
func (h *Harbour) list(collection, after string, i inventory) (int, any) {
	now := time.Now()
	switch collection {
	case "balancers":
		var all []balancer
		for _, b := range i.balancers {
			all = append(all, b.at(now))
		}
		return http.StatusOK, pageOf(all, func(b balancer) string { return b.ID }, after, h.PageSize)
	case "openings":
		return http.StatusOK, pageOf(slices.Collect(maps.Keys(i.openings)), func(name string) string { return name }, after, h.PageSize)
	case "works":
		var all []work
		for _, w := range h.works {
			all = append(all, w.at(now))
		}
		return http.StatusOK, pageOf(all, func(w work) string { return w.ID }, after, h.PageSize)
	}
	return http.StatusNotFound, problem{Code: "NotFound", Text: "no collection " + collection}
}

func (h *Harbour) change(r *http.Request, path []string, b *balancer) (int, any) {
	switch r.Method + " " + strings.Join(path[2:min(3, len(path))], "") {
	case "DELETE ":
		delete(h.now.balancers, b.ID)
	case "PATCH ":
		var body struct {
			Notice *string `json:"notice"`
		}
		status, answer := decodeBody(r, &body)
		if body.Notice != nil {
			b.Notice = *body.Notice
		}
		return status, answer
	case "PUT machines":
		return decodeBody(r, &b.Machines)
	case "PUT listeners":
		var l json.RawMessage
		status, answer := decodeBody(r, &l)
		b.Listeners[path[3]] = l
		return status, answer
	case "DELETE listeners":
		delete(b.Listeners, path[3])
	}
	return http.StatusOK, nil
}

func (h *Harbour) create(r *http.Request) (int, any) {
	b := &balancer{}
	if status, answer := decodeBody(r, b); answer != nil {
		return status, answer
	}
	token := r.Header.Get("Idempotency-Token")
	if id, known := h.tokens[token]; known && token != "" {
		return h.repeated(id)
	}
	for _, o := range h.now.balancers {
		if o.Name == b.Name {
			return http.StatusOK, problem{Code: "NameTaken", Text: "balancer " + b.Name + " exists"}
		}
	}
	h.last++
	b.ID, b.Listeners = "b"+strconv.Itoa(h.last), map[string]json.RawMessage{}
	b.until = time.Now().Add(h.Busy)
	h.now.balancers[b.ID] = b
	w := work{ID: "w" + strconv.Itoa(h.last), balancer: b.ID, until: b.until}
	h.works = append(h.works, w)
	h.tokens[token] = w.ID
	return http.StatusOK, w.at(time.Now())
}

// repeated answers a creation with a token that is known: with the same work request, unless
// the load balancer was deleted since.
func (h *Harbour) repeated(id string) (int, any) {
	for _, w := range h.works {
		if w.ID == id && h.now.balancers[w.balancer] != nil {
			return http.StatusOK, w.at(time.Now())
		}
	}
	return http.StatusOK, problem{Code: "TokenUsed", Text: "the load balancer of this token was deleted"}
}

func decodeBody(r *http.Request, to any) (int, any) {
	if err := json.NewDecoder(r.Body).Decode(to); err != nil {
		return http.StatusBadRequest, problem{Code: "Malformed", Text: err.Error()}
	}
	return http.StatusOK, nil
}
