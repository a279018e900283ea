package aws

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// visit is one call on its way through the simulator.
type visit struct {
	sim.Visit
	cloud   *Cloud
	service *query.Service
	request *query.Request
	answer  *query.Response
}

// visit is a call that has not been run yet.
func (c *Cloud) visit(service *query.Service, request *query.Request, form url.Values) *visit {
	_, known := service.Ops[request.Action]
	return &visit{cloud: c, service: service, request: request, Visit: sim.Visit{Entry: sim.Entry{
		Service: service.Name, Operation: request.Action, Write: known && service.Writes != nil && service.Writes(request.Action), Units: countInstances(form),
	}}}
}

// run takes the call through throttle and faults to the operation.
func (v *visit) run(ctx context.Context, form url.Values) {
	c := v.cloud
	if c.Throttle.Take(sim.Call{Service: v.service.Name, Operation: throttledAs(v.service.Name, v.request.Action, form), Units: v.Units}, c.clock.Now()).Refused {
		v.Throttled = true
		v.answer = v.service.Fail(v.request, throttlingError(v.service))
		return
	}
	met := v.Meet(ctx, &c.Faults)
	if len(met.Errors) > 0 {
		v.answer = v.service.Fail(v.request, faultError(met.Errors[0]))
		return
	}
	// Latency may have passed meanwhile, and an operation must not see an older
	// time than one that ran before it.
	v.request.Now = c.clock.Now().UTC()
	v.operate(met.Stale, form)
}

func (v *visit) operate(stale *sim.Fault, form url.Values) {
	c := v.cloud
	if !v.Write {
		c.running.RLock()
		defer c.running.RUnlock()
		if err := c.authorize(v.service.Name, v.request, form); err != nil {
			v.answer = v.service.Fail(v.request, err)
			return
		}
		v.answer = c.past[v.service.Name].At(v.service, stale, v.request.Now).Do(v.request)
		v.Committed = v.answer.Status == http.StatusOK
		return
	}
	c.running.Lock()
	defer c.running.Unlock()
	v.request.Now = c.clock.Now().UTC()
	if err := c.authorize(v.service.Name, v.request, form); err != nil {
		v.answer = v.service.Fail(v.request, err)
		return
	}
	var before *query.Service
	if wanted := c.Faults.WantsHistory(); wanted && v.service.Freeze != nil {
		before = v.service.Freeze()
	} else if !wanted {
		c.past[v.service.Name].Forget()
	}
	v.answer = v.service.Do(v.request)
	v.Committed = v.answer.Status == http.StatusOK
	c.linked = c.linked || (v.Committed && v.request.Action == "CreateLoadBalancer")
	if v.Committed && before != nil {
		c.past[v.service.Name].Keep(v.request.Now, before)
	}
}

// note completes what the journal says of the call.
func (v *visit) note(form url.Values) *sim.Visit {
	v.Time, v.Status, v.Code = v.request.Now, v.answer.Status, v.answer.Code
	v.Request = sim.Params(maps.Keys(form), form.Get)
	maps.DeleteFunc(v.Request, func(name, _ string) bool { return strings.HasPrefix(name, "X-Amz-") })
	return &v.Visit
}

// throttlingError returns the refusal of each service. On the wire the load balancers'
// code is Throttling; ThrottlingException is what CloudTrail makes of it. Sources:
// github.com/boto/boto3 issue 3125, kubernetes-sigs/aws-load-balancer-controller.
func throttlingError(s *query.Service) *query.Error {
	if s.Style == query.EC2Query {
		return &query.Error{Status: http.StatusServiceUnavailable, Code: "RequestLimitExceeded", Message: "Request limit exceeded."}
	}
	return &query.Error{Status: http.StatusBadRequest, Code: "Throttling", Message: "Rate exceeded"}
}

// faultError fills in the fields that the fault leaves open: the status that belongs to a
// code, and an internal failure when there is no code either.
func faultError(f sim.Fault) *query.Error {
	e := &query.Error{Status: f.Status, Code: f.Code, Message: f.Message}
	if e.Code == "" {
		e.Code = "InternalFailure"
	}
	if e.Message == "" {
		e.Message = "injected by a fault of the simulator"
	}
	if e.Status == 0 {
		e.Status = map[string]int{
			"InternalFailure": 500, "InternalError": 500, "ServiceUnavailable": 503, "Unavailable": 503,
			"RequestLimitExceeded": 503, "UnauthorizedOperation": 403, "AccessDenied": 403, "AuthFailure": 401,
		}[e.Code]
	}
	return e
}
