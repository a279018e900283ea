package azure

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// AsyncPrefix before an operation names its end in a fault: a FaultError on
// "async/LoadBalancers.CreateOrUpdate" accepts the PUT, and the operation fails
// when it is polled. A code that begins with "Canceled" cancels it instead.
const AsyncPrefix = "async/"

// visit is one call on its way through the simulator.
type visit struct {
	sim.Visit
	cloud   *Cloud
	request *arm.Request
	raw     *http.Request
	// call is nil for what is not Resource Manager; then other answers.
	call  *arm.Call
	other func() *arm.Response

	answer *arm.Response
	taken  sim.Taken
}

func (v *visit) find() {
	if other := v.cloud.others(v); other != nil {
		v.other = other
		return
	}
	v.call = v.cloud.ARM.Find(v.request)
	v.Service, v.Operation, v.Write = v.call.Service, v.call.Name, v.call.Write
}

// authenticate wants a bearer token and accepts every one.
func (v *visit) authenticate() *arm.Error {
	if v.call == nil {
		return nil
	}
	scheme, token, _ := strings.Cut(v.raw.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") && token != "" {
		return nil
	}
	return arm.Failf(http.StatusUnauthorized, "AuthenticationFailed", "Authentication failed. The 'Authorization' header is missing or is no bearer token.")
}

// run takes the call through quota, throttle and faults to the operation.
func (v *visit) run(ctx context.Context) {
	c := v.cloud
	if err := v.refusal(); err != nil {
		v.Throttled = true
		v.answer = arm.Refuse(err)
		return
	}
	met := v.Meet(ctx, &c.Faults)
	if len(met.Errors) > 0 {
		v.answer = arm.Refuse(c.faultError(met.Errors[0]))
		return
	}
	v.asyncFault()
	v.operate(met.Stale)
	v.Committed = v.answer.Status < http.StatusBadRequest
}

// asyncFault asks the faults about the end of the operation. Only faults that
// name it are asked, so that others do not count the call twice.
func (v *visit) asyncFault() {
	if v.call == nil || !v.Write {
		return
	}
	armed := slices.ContainsFunc(slices.Collect(maps.Values(v.cloud.Faults.List())), func(f sim.Fault) bool { return strings.HasPrefix(f.Operation, AsyncPrefix) })
	if !armed {
		return
	}
	for _, f := range v.cloud.Faults.Take(v.Service, AsyncPrefix+v.Operation, true) {
		if f.Kind == sim.FaultError && strings.HasPrefix(f.Operation, AsyncPrefix) {
			v.Faults = append(v.Faults, f.Kind)
			v.call.AsyncError = v.cloud.faultError(f)
		}
	}
}

func (v *visit) operate(stale *sim.Fault) {
	c := v.cloud
	if v.call == nil {
		v.answer = v.other()
		return
	}
	c.settle()
	running := c.running.RLocker()
	if v.Write {
		running = &c.running
	}
	running.Lock()
	defer running.Unlock()
	// Latency may have passed meanwhile, and an operation must not see an
	// older time than one that ran before it.
	v.request.Now = c.clock.Now()
	if err := v.authorize(); err != nil {
		v.answer = arm.Refuse(err)
		return
	}
	if !v.Write {
		v.answer = v.call.Run(c.past.At(c.ARM, stale, v.request.Now))
		return
	}
	var before *arm.Service
	if c.Faults.WantsHistory() {
		before = c.ARM.Freeze()
	} else {
		c.past.Forget()
	}
	v.answer = v.call.Run(c.ARM)
	if v.answer.Status < http.StatusBadRequest && before != nil {
		c.past.Keep(v.request.Now, before)
	}
}

// note completes what the journal says of the call.
func (v *visit) note() *sim.Visit {
	v.Time, v.Status, v.Code, v.Resource = v.request.Now.UTC(), v.answer.Status, v.answer.Code, v.bucketed().Resource
	v.Request = map[string]string{"method": v.raw.Method, "path": v.raw.URL.Path}
	for _, name := range []string{"If-Match", "If-None-Match"} {
		if value := v.raw.Header.Get(name); value != "" {
			v.Request[strings.ToLower(name)] = value
		}
	}
	for name, values := range v.request.Query {
		if len(v.Request) < sim.MaxEntryParams {
			v.Request[name] = values[0]
		}
	}
	return &v.Visit
}

// headers adds what every answer of Resource Manager carries.
func (v *visit) headers(number int) {
	if v.call == nil {
		return
	}
	h := v.answer.Header
	id := arm.GUID("request", number)
	h.Set("X-Ms-Request-Id", id)
	correlation := v.raw.Header.Get("X-Ms-Correlation-Request-Id")
	if correlation == "" {
		correlation = id
	}
	h.Set("X-Ms-Correlation-Request-Id", correlation)
	h.Set("X-Ms-Routing-Request-Id", strings.ToUpper(v.cloud.opt.Location)+":"+v.request.Now.UTC().Format("20060102T150405Z")+":"+id)
	if client := v.raw.Header.Get("X-Ms-Client-Request-Id"); client != "" {
		h.Set("X-Ms-Client-Request-Id", client)
	}
	if v.answer.Code != "" {
		h.Set("X-Ms-Error-Code", v.answer.Code)
	}
	kind, left := v.remaining()
	h.Set("X-Ms-Ratelimit-Remaining-Subscription-"+kind, strconv.Itoa(left))
	if v.Service == "compute" {
		h.Set("X-Ms-Ratelimit-Remaining-Resource", fmt.Sprintf("Microsoft.Compute/%s;%d", strings.ReplaceAll(v.Operation, ".", ""), v.remainingOfCompute(left)))
	}
	if v.answer.Status == http.StatusUnauthorized {
		h.Set("Www-Authenticate", `Bearer authorization_uri="`+v.request.Base+"/"+v.cloud.opt.Tenant+`", error="invalid_token", error_description="The access token is missing"`)
	}
}

// faultError fills in the fields that the fault leaves open: the status that belongs to a
// code, and an internal failure when there is no code either.
func (c *Cloud) faultError(f sim.Fault) *arm.Error {
	e := &arm.Error{Status: f.Status, Code: f.Code, Message: f.Message}
	if e.Code == "" {
		e.Code = map[int]string{http.StatusTooManyRequests: "TooManyRequests", http.StatusForbidden: "AuthorizationFailed", http.StatusPreconditionFailed: "PreconditionFailed"}[e.Status]
	}
	if e.Code == "" {
		e.Code = "InternalServerError"
	}
	if e.Message == "" {
		e.Message = "injected by a fault of the simulator"
	}
	if e.Status == 0 {
		e.Status = statusOf(e.Code)
	}
	if e.Status == http.StatusTooManyRequests {
		e.RetryAfter = c.opt.RetryAfter
	}
	return e
}

func statusOf(code string) int {
	known := map[string]int{
		"InternalServerError": 500, "ServerTimeout": 503, "GatewayTimeout": 504, "AuthorizationFailed": 403, "AuthenticationFailed": 401,
		"ResourceNotFound": 404, "NotFound": 404, "PreconditionFailed": 412, "TooManyRequests": 429, "SubscriptionRequestsThrottled": 429, "RetryableError": 429,
		"AnotherOperationInProgress": 409, "CanceledAndSupersededDueToAnotherOperation": 409, "Conflict": 409, "OperationNotAllowed": 409,
	}
	if status, ok := known[code]; ok {
		return status
	}
	return http.StatusBadRequest
}
