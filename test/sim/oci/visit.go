package oci

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/rest"
)

// visit is one call on its way through the simulator.
type visit struct {
	cloud     *Cloud
	http      *http.Request
	at        time.Time
	route     route
	params    map[string]string // of the path
	raw       []byte            // the body of the request
	body      rest.Object
	state     *state // that the call sees
	answer    answer
	faults    []sim.FaultKind
	throttled bool
	committed bool
	cut       bool
	breaks    bool      // the work request of the call fails
	created   [2]string // collection and identifier of what was made or changed
	workload  string    // namespace and name of the ServiceAccount that calls; empty: none does
}

// answer is what goes back.
type answer struct {
	status int
	body   any // nil: none
	header map[string]string
	code   string
}

// maxBody bounds the body of a request, in bytes.
const maxBody = 8 << 20

func (v *visit) serve() {
	c := v.cloud
	v.answer.header = map[string]string{}
	var known bool
	v.route, v.params, known = find(c.routes, v.http.Method, v.http.URL.Path)
	if !known {
		v.fail(refuse(http.StatusNotFound, "NotFound", "No operation is supported at %s %s", v.http.Method, v.http.URL.Path))
		return
	}
	if err := v.read(); err != nil {
		v.fail(err)
		return
	}
	stale := v.pass()
	if v.answer.status != 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !v.route.open {
		if err := v.authenticate(); err != nil {
			v.fail(err)
			return
		}
	}
	if err := v.mayCall(); err != nil {
		v.fail(err)
		return
	}
	c.state.settle(v.at)
	v.operate(stale)
}

// operate runs the call, and takes back what a refused one has begun.
func (v *visit) operate(stale *sim.Fault) {
	c := v.cloud
	v.state = c.state
	if old := c.past.At(nil, stale, v.at); old != nil && !v.route.write {
		v.state = old
	}
	var before *state
	if v.route.write {
		before = c.state.clone()
	}
	again, err := v.repeated()
	var result any
	if err == nil && !again {
		result, err = v.route.run(v)
	}
	if err != nil {
		if before != nil {
			c.state = before
		}
		v.fail(err)
		return
	}
	v.committed = !again
	if again {
		return
	}
	v.answer.status, v.answer.body = v.route.status, result
	v.remember()
	switch {
	case !c.Faults.WantsHistory():
		c.past.Forget()
	case before != nil:
		c.past.Keep(v.at, before)
	}
}

func (v *visit) read() error {
	raw, err := io.ReadAll(io.LimitReader(v.http.Body, maxBody))
	if err != nil || len(raw) == 0 {
		return err
	}
	v.raw = raw
	if err := json.Unmarshal(raw, &v.body); err != nil {
		return refuse(http.StatusBadRequest, "CannotParseRequest", "Incorrectly formatted request: %v", err)
	}
	return nil
}

// pass takes the call through throttle and faults. It returns the fault that asks for
// an earlier state, if any.
func (v *visit) pass() *sim.Fault {
	c := v.cloud
	if c.Throttle.Take(sim.Call{Service: v.route.api, Operation: v.route.name}, c.clock.Now()).Refused {
		v.throttled = true
		v.fail(refuse(http.StatusTooManyRequests, "TooManyRequests", "Too many requests for the user"))
		return nil
	}
	d := c.Faults.Meet(v.http.Context(), v.route.api, v.route.name, v.route.write)
	v.faults, v.cut = d.Kinds, d.Cut
	for _, f := range d.Errors {
		v.disturb(f)
	}
	v.at = c.clock.Now()
	return d.Stale
}

// disturb answers an error. Status 200 lets the call through instead, and the work
// request of it fails.
func (v *visit) disturb(f sim.Fault) {
	if f.Status == http.StatusOK {
		v.breaks = true
		return
	}
	r := refuse(f.Status, f.Code, "%s", f.Message)
	if r.status == 0 {
		r.status = http.StatusInternalServerError
	}
	if r.code == "" {
		r.code = "InternalServerError"
	}
	if r.text == "" {
		r.text = "Internal error occurred"
	}
	v.fail(r)
}

// fail answers a refusal.
func (v *visit) fail(err error) {
	var r *refusal
	if !errors.As(err, &r) {
		r = refuse(http.StatusInternalServerError, "InternalServerError", "%v", err)
	}
	v.answer = answer{status: r.status, body: rest.Object{"code": r.code, "message": r.text}, code: r.code, header: map[string]string{}}
}

func (v *visit) write(w http.ResponseWriter, seq int) {
	for k, value := range v.answer.header {
		w.Header().Set(k, value)
	}
	w.Header().Set("Opc-Request-Id", requestID(v.http.Header.Get("Opc-Request-Id"), seq))
	if v.answer.body == nil {
		w.WriteHeader(v.answer.status)
		return
	}
	if text, is := v.answer.body.([]byte); is {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(v.answer.status)
		_, _ = w.Write(text)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(v.answer.status)
	// A client that has gone away is no fault of the simulator.
	_ = json.NewEncoder(w).Encode(v.answer.body)
}

// entry is the call as the journal keeps it.
func (v *visit) entry() sim.Entry {
	e := sim.Entry{
		Time: v.at, Service: v.route.api, Operation: v.route.name, Write: v.route.write, Committed: v.committed, Throttled: v.throttled,
		Faults: v.faults, Status: v.answer.status, Code: v.answer.code, Request: map[string]string{},
	}
	if v.route.run == nil {
		e.Operation = v.http.Method + " " + v.http.URL.Path
	}
	if v.cut {
		e.Status = 0
	}
	flat := map[string]string{}
	rest.Flatten(flat, "", map[string]any(v.body), map[string]bool{"privateKey": true, "passphrase": true, "publicKey": true, "podKey": true})
	for k, values := range v.http.URL.Query() {
		flat["?"+k] = strings.Join(values, ",")
	}
	maps.Copy(flat, v.params)
	if v.workload != "" {
		flat["(workload)"] = v.workload // sorts before all parameters
	}
	for _, name := range slices.Sorted(maps.Keys(flat))[:min(len(flat), sim.MaxEntryParams)] {
		e.Request[name] = flat[name]
	}
	return e
}
