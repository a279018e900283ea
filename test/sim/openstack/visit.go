package openstack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
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
	body      Object            // of the request
	state     *state            // that the call sees
	answer    answer
	faults    []sim.FaultKind
	throttled bool
	committed bool
	cut       bool
	breaks    bool // what the call does ends in ERROR
}

// answer is what goes back.
type answer struct {
	status int
	body   any // nil: none
	header http.Header
	code   string
	page   string // instead of the body
}

// maxBody bounds the body of a request, in bytes.
const maxBody = 8 << 20

func (v *visit) serve() {
	c := v.cloud
	var known bool
	v.route, v.params, known = find(c.routes, v.http.Method, v.http.URL.Path)
	if !known {
		v.fail(refuse(http.StatusNotFound, "HTTPNotFound", "The resource could not be found."))
		return
	}
	if err := v.read(); err != nil {
		v.fail(refuse(http.StatusBadRequest, "HTTPBadRequest", "%v", err))
		return
	}
	stale := v.pass()
	if v.answer.status != 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !v.route.open && !c.knows(v.http.Header.Get("X-Auth-Token"), v.at) {
		v.fail(refuse(http.StatusUnauthorized, "Unauthorized", "The request you have made requires authentication."))
		return
	}
	if err := c.mayCall(v); err != nil {
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
	result, err := v.route.run(v)
	if err != nil {
		if before != nil {
			c.state = before
		}
		v.fail(err)
		return
	}
	v.committed = true
	if v.answer.status == 0 {
		v.answer.status, v.answer.body = v.route.status, result
	}
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
	if err := json.Unmarshal(raw, &v.body); err != nil {
		return fmt.Errorf("malformed JSON in the body: %w", err)
	}
	return nil
}

// pass takes the call through throttle and faults. It returns the fault that asks for
// an earlier state, if any.
func (v *visit) pass() *sim.Fault {
	c := v.cloud
	if taken := c.Throttle.Take(sim.Call{Service: v.route.api, Operation: v.route.name}, c.clock.Now()); taken.Refused {
		v.throttled = true
		after := strconv.Itoa(int(math.Ceil(taken.Wait.Seconds())))
		v.answer = answer{status: http.StatusTooManyRequests, body: Object{"overLimit": Object{"code": http.StatusTooManyRequests, "message": "This request was rate-limited."}}, header: http.Header{"Retry-After": {after}}, code: "OverLimit"}
		return nil
	}
	met := c.Faults.Meet(v.http.Context(), v.route.api, v.route.name, v.route.write)
	v.faults, v.cut = met.Kinds, met.Cut
	for _, f := range met.Errors {
		v.disturb(f)
	}
	v.at = c.clock.Now()
	return met.Stale
}

// disturb answers an error. Status 200 lets the call through instead, and the load
// balancer ends in ERROR.
func (v *visit) disturb(f sim.Fault) {
	if f.Status == http.StatusOK {
		v.breaks = true
		return
	}
	status := f.Status
	if status == 0 {
		status = http.StatusInternalServerError
	}
	text := f.Message
	if text == "" {
		text = "An unknown exception occurred."
	}
	v.fail(refuse(status, f.Code, "%s", text))
}

// fail answers a refusal.
func (v *visit) fail(err error) {
	var r *refusal
	if !errors.As(err, &r) {
		r = refuse(http.StatusInternalServerError, "InternalError", "%v", err)
	}
	v.answer = answer{status: r.status, body: r.body(v.route.api), code: r.kind, page: r.page}
	if v.answer.code == "" {
		v.answer.code = strconv.Itoa(r.status)
	}
}

func (v *visit) write(w http.ResponseWriter) {
	for k, values := range v.answer.header {
		w.Header()[k] = values
	}
	w.Header().Set("X-Openstack-Request-Id", "req-"+idOf(strconv.Itoa(v.cloud.Journal.Last())))
	if v.answer.body == nil {
		w.WriteHeader(v.answer.status)
		return
	}
	if v.answer.page != "" {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(v.answer.status)
		_, _ = io.WriteString(w, v.answer.page)
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
	if !v.route.found() {
		e.Operation = v.http.Method + " " + v.http.URL.Path
	}
	if v.cut {
		e.Status = 0
	}
	flat := map[string]string{}
	rest.Flatten(flat, "", v.body, map[string]bool{"auth": true})
	for k, values := range v.http.URL.Query() {
		flat["?"+k] = strings.Join(values, ",")
	}
	maps.Copy(flat, v.params)
	for _, name := range slices.Sorted(maps.Keys(flat))[:min(len(flat), sim.MaxEntryParams)] {
		e.Request[name] = flat[name]
	}
	return e
}
