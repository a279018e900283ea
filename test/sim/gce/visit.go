package gce

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/gce/compute"
	"github.com/berth-lb/berth/test/sim/gce/identity"
	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// visit is one call on its way through the simulator.
type visit struct {
	cloud     *Cloud
	http      *http.Request
	at        time.Time
	service   string
	request   wire.Request
	known     bool
	write     bool
	answer    *wire.Answer
	token     *identity.Answer
	faults    []sim.FaultKind
	throttled bool
	committed bool
	cut       bool
}

// serve finds out what the call is and takes it through authentication,
// throttle and faults to the service.
func (v *visit) serve() {
	c := v.cloud
	if service, operation := c.Identity.Name(v.http); service != "" {
		v.service, v.request.ID = service, operation
		// There is no earlier state of what never changes.
		_ = v.pass(v.http.Context())
		if v.answer != nil {
			v.refuseToken()
			return
		}
		v.token = c.Identity.Serve(v.http, v.at)
		v.committed = v.token.Status == http.StatusOK
		return
	}
	v.service = "compute"
	if err := v.read(); err != nil {
		v.answer = wire.Refuse(err)
		return
	}
	if err := c.authenticate(v.http, v.at); err != nil {
		v.answer = wire.Refuse(err)
		return
	}
	stale := v.pass(v.http.Context())
	if err := v.authorize(); err != nil && v.answer == nil {
		v.answer = wire.Refuse(err)
	}
	if v.answer == nil {
		v.operate(stale)
	}
}

// refuseToken gives a fault or the throttle's refusal in place of a token.
func (v *visit) refuseToken() {
	e := v.answer
	v.answer = nil
	v.token = &identity.Answer{Status: e.Status, Type: "text/plain", Body: []byte(e.Reason + "\n"), Code: e.Reason}
}

// read finds the method and reads the body.
func (v *visit) read() error {
	v.request = wire.Request{ID: "unknown", Query: v.http.URL.Query(), Now: v.at, User: v.cloud.Identity.Email, Path: map[string]string{"path": v.http.URL.Path}}
	version, path, ok := apiPath(v.http.URL.Path)
	if !ok {
		return noRoute(v.http)
	}
	route, params, ok := v.cloud.Compute.Find(v.http.Method, path)
	if !ok {
		return noRoute(v.http)
	}
	v.known, v.write = true, route.Write()
	v.request.ID, v.request.Version, v.request.Path, v.request.Segments = route.ID, version, params, strings.Split(path, "/")
	body, err := wire.ReadBody(v.http)
	v.request.Body = body
	return err
}

// noRoute is the answer of Google's front end to an unknown path.
func noRoute(r *http.Request) error {
	return &wire.Error{Status: http.StatusNotFound, Reason: "notFound", Canonical: "NOT_FOUND", Message: "The requested URL " + r.URL.Path + " was not found on this server (" + r.Method + ")."}
}

// pass takes the call through throttle and faults. It gives the fault that asks
// for an earlier state, if any, and sets the answer if there is nothing left to do.
func (v *visit) pass(ctx context.Context) *sim.Fault {
	c := v.cloud
	if c.Throttle.Take(sim.Call{Service: v.service, Operation: v.request.ID}, c.clock.Now()).Refused {
		v.throttled = true
		v.answer = wire.Refuse(c.tooFast(v.request.ID))
		return nil
	}
	met := c.Faults.Meet(ctx, v.service, v.request.ID, v.write)
	v.faults, v.cut = met.Kinds, met.Cut
	for _, f := range met.Errors {
		v.fail(f)
	}
	v.at = c.clock.Now().UTC()
	v.request.Now = v.at
	return met.Stale
}

// fail answers an error. Status 200 lets the operation fail instead, with the
// code; code UNREACHABLE makes the scopes in the message unreachable for lists
// over all scopes.
func (v *visit) fail(f sim.Fault) {
	late := f.Kind == sim.FaultError
	switch {
	case late && f.Code == "UNREACHABLE":
		v.request.Unreachable = strings.Split(f.Message, ",")
	case late && f.Status == http.StatusOK && v.write:
		v.request.FailLate = faultError(f)
	case v.answer == nil || f.Kind == sim.FaultCutBefore:
		v.answer = wire.Refuse(faultError(f))
	}
}

func (v *visit) operate(stale *sim.Fault) {
	c := v.cloud
	if !v.write {
		v.answer = c.Compute.Read(v.http.Context(), &v.request, c.past.At(nil, stale, v.at))
		v.committed = v.answer.Status == http.StatusOK
		return
	}
	wanted := c.Faults.WantsHistory()
	var before *compute.View
	v.answer, before = c.Compute.Write(&v.request, wanted)
	v.committed = v.answer.Status == http.StatusOK && v.request.FailLate == nil
	if !wanted {
		c.past.Forget()
	} else if v.committed {
		c.past.Keep(v.request.Now, before)
	}
}

// entry is the call as the journal keeps it.
func (v *visit) entry() sim.Entry {
	e := sim.Entry{
		Time: v.at, Service: v.service, Operation: v.request.ID, Write: v.write, Committed: v.committed, Throttled: v.throttled, Faults: v.faults,
		Request: map[string]string{},
	}
	switch {
	case v.cut:
	case v.token != nil:
		e.Status, e.Code = v.token.Status, v.token.Code
	default:
		e.Status, e.Code = v.answer.Status, v.answer.Reason
	}
	flat := v.request.Flat()
	names := slices.Sorted(maps.Keys(flat))
	for _, name := range names[:min(len(names), sim.MaxEntryParams)] {
		e.Request[name] = flat[name]
	}
	return e
}
