package gce

import (
	"context"
	"maps"
	"net/http"
	"strings"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/gce/compute"
	"github.com/berth-lb/berth/test/sim/gce/identity"
	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// visit is one call on its way through the simulator.
type visit struct {
	sim.Visit
	cloud   *Cloud
	http    *http.Request
	request wire.Request
	answer  *wire.Answer
	token   *identity.Answer
}

// serve finds out what the call is and takes it through authentication,
// throttle and faults to the service.
func (v *visit) serve() {
	c := v.cloud
	if service, operation := c.Identity.Name(v.http); service != "" {
		v.Service, v.Operation = service, operation
		// There is no earlier state of what never changes.
		_ = v.pass(v.http.Context())
		if v.answer != nil {
			v.refuseToken()
			return
		}
		v.token = c.Identity.Serve(v.http, v.Time)
		v.Committed = v.token.Status == http.StatusOK
		return
	}
	if strings.HasSuffix(v.http.URL.Path, testPermissions) {
		v.testPermissions()
		return
	}
	v.Service = "compute"
	if err := v.read(); err != nil {
		v.answer = wire.Refuse(err)
		return
	}
	if err := c.authenticate(v.http, v.Time); err != nil {
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
	v.request = wire.Request{ID: "unknown", Query: v.http.URL.Query(), Now: v.Time, User: v.cloud.Identity.Email, Path: map[string]string{"path": v.http.URL.Path}}
	v.Operation = v.request.ID
	version, path, ok := apiPath(v.http.URL.Path)
	if !ok {
		return noRoute(v.http)
	}
	route, params, ok := v.cloud.Compute.Find(v.http.Method, path)
	if !ok {
		return noRoute(v.http)
	}
	v.Write = route.Write
	v.Operation, v.request.ID = route.ID, route.ID
	v.request.Version, v.request.Path, v.request.Segments = version, params, strings.Split(path, "/")
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
	if c.Throttle.Take(sim.Call{Service: v.Service, Operation: v.Operation}, c.clock.Now()).Refused {
		v.Throttled = true
		v.answer = wire.Refuse(c.tooFast(v.Operation))
		return nil
	}
	met := v.Meet(ctx, &c.Faults)
	for _, f := range met.Errors {
		v.fail(f)
	}
	v.Time = c.clock.Now().UTC()
	v.request.Now = v.Time
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
	case late && f.Status == http.StatusOK && v.Write:
		v.request.FailLate = faultError(f)
	case v.answer == nil || f.Kind == sim.FaultCutBefore:
		v.answer = wire.Refuse(faultError(f))
	}
}

func (v *visit) operate(stale *sim.Fault) {
	c := v.cloud
	if !v.Write {
		v.answer = c.Compute.Read(v.http.Context(), &v.request, c.past.At(nil, stale, v.Time))
		v.Committed = v.answer.Status == http.StatusOK
		return
	}
	wanted := c.Faults.WantsHistory()
	var before *compute.View
	v.answer, before = c.Compute.Write(&v.request, wanted)
	v.Committed = v.answer.Status == http.StatusOK && v.request.FailLate == nil
	if !wanted {
		c.past.Forget()
	} else if v.Committed {
		c.past.Keep(v.request.Now, before)
	}
}

// note completes what the journal says of the call.
func (v *visit) note() *sim.Visit {
	if v.token != nil {
		v.Status, v.Code = v.token.Status, v.token.Code
	} else {
		v.Status, v.Code = v.answer.Status, v.answer.Reason
	}
	flat := v.request.Flat()
	v.Request = sim.Params(maps.Keys(flat), func(name string) string { return flat[name] })
	return &v.Visit
}
