package oci

import (
	"net/http"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// The states of load balancers. Source: API reference, LoadBalancer and NetworkLoadBalancer.
const (
	creating = "CREATING"
	updating = "UPDATING" // of network load balancers only
	active   = "ACTIVE"
	deleting = "DELETING"
	failed   = "FAILED"
)

// The states of work requests. Source: API reference, WorkRequest.
const (
	inProgress = "IN_PROGRESS"
	succeeded  = "SUCCEEDED"
)

// lifecycle is the key of the state, in work requests that of the Load Balancer service only.
const lifecycle = "lifecycleState"

// work is a work request that runs.
type work struct {
	product product
	id      string
	until   time.Time
	next    rest.Object // next state of the load balancer; nil: deleted
	fails   bool
}

// accept begins the work request of a change, and answers its name. What the load
// balancer is meanwhile has the state that the service shows.
func (v *visit) accept(p product, operation string, lb, next rest.Object) {
	s, during := v.State, active
	switch {
	case next == nil:
		during = deleting
	case lb[lifecycle] == nil:
		during = creating
	case p.table == networkLBs:
		during = updating
	}
	breaks := v.cloud.opt.Breaks
	w := work{product: p, id: s.id(p.work), until: v.Time.Add(v.cloud.opt.Work), next: next}
	w.fails = next != nil && (v.Breaks || breaks != "" && strings.Contains(next.Text("displayName"), breaks))
	now := lb
	if during == creating {
		now = next.With(rest.Object{"ipAddresses": []any{}})
	}
	s.store(p.table, now.With(rest.Object{lifecycle: during}))
	s.Put(p.work, p.request(w.id, operation, now, v.Time))
	s.open[now.Text("id")] = w
	v.Answer.Header.Set("Opc-Work-Request-Id", w.id)
	v.created = [2]string{p.table, now.Text("id")}
	s.Settle(v.Time)
}

// request is a work request as its service shows it.
func (p product) request(id, operation string, lb rest.Object, at time.Time) rest.Object {
	out := rest.Object{"id": id, "compartmentId": lb.Text("compartmentId"), "timeAccepted": formatTime(at), "owner": lb.Text("id")}
	if p.table == balancers {
		return out.With(rest.Object{"loadBalancerId": lb.Text("id"), "type": operation, lifecycle: inProgress, "message": "", "errorDetails": []any{}})
	}
	action := "UPDATED"
	switch {
	case strings.HasPrefix(operation, "CREATE_NETWORK"):
		action = "CREATED"
	case strings.HasPrefix(operation, "DELETE_NETWORK"):
		action = "DELETED"
	}
	return out.With(rest.Object{
		"operationType": operation, "status": inProgress, "percentComplete": 0.0, "timeStarted": formatTime(at),
		"resources": []any{rest.Object{"entityType": "NetworkLoadBalancer", "actionType": action, "identifier": lb.Text("id"), "entityUri": "/networkLoadBalancers/" + lb.Text("id")}},
	})
}

// settle ends the work requests that have taken their time.
func (s *state) Settle(now time.Time) {
	for id, w := range s.open {
		if now.Before(w.until) {
			continue
		}
		delete(s.open, id)
		s.finish(id, w)
	}
}

// finish ends one. A creation that fails leaves a load balancer that can only be deleted.
func (s *state) finish(id string, w work) {
	done := rest.Object{"timeFinished": formatTime(w.until)}
	result, state := succeeded, active
	if w.fails {
		result = failed
	}
	lb, _ := s.Get(w.product.table, id)
	switch {
	case w.fails && lb.Text(lifecycle) == creating:
		state = failed
	case w.fails:
	case w.next == nil:
		s.release(id)
		s.Drop(w.product.table, id)
	default:
		lb = w.next
	}
	if w.next != nil {
		s.store(w.product.table, lb.With(rest.Object{lifecycle: state, "timeUpdated": formatTime(w.until)}))
	}
	if w.next != nil && state == active {
		s.trim(id, lb)
	}
	if w.product.table == balancers {
		done[lifecycle], done["message"] = result, "OK"
		if w.fails {
			done["message"] = "the change could not be made"
			done["errorDetails"] = []any{rest.Object{"errorCode": "INTERNAL_ERROR", "message": done["message"]}}
		}
	} else {
		done["status"], done["percentComplete"] = result, 100.0
	}
	s.Change(w.product.work, w.id, done)
}

// mutable is the load balancer that a call is to change, if it may be changed now.
// Sources: API reference, errors 409 IncorrectState and 412 NoEtagMatch; the text of the
// network load balancer: oracle/terraform-provider-oci issue 1456.
func (v *visit) mutable(p product) (rest.Object, error) {
	lb, ok := v.State.Get(p.table, v.Params["id"])
	if !ok {
		return nil, notFound(p.what, v.Params["id"])
	}
	if err := v.match(lb); err != nil {
		return nil, err
	}
	_, busy := v.State.open[lb.Text("id")]
	if !busy && (lb.Text(lifecycle) == active || v.HTTP.Method == http.MethodDelete && v.Params["name"] == "") {
		return lb, nil
	}
	if p.table == networkLBs {
		was := strings.ToLower(lb.Text(lifecycle))
		return nil, rest.Refuse(http.StatusConflict, "Conflict", "Invalid State Transition of NLB lifeCycle state from %s to Updating", strings.ToUpper(was[:1])+was[1:])
	}
	return nil, rest.Refuse(http.StatusConflict, "IncorrectState", "Load balancer %s is %s and has a work request that is not finished", lb.Text("id"), lb.Text(lifecycle))
}

// match refuses a call that is for another version of the object.
func (v *visit) match(o rest.Object) error {
	if want := v.HTTP.Header.Get("If-Match"); want != "" && want != "*" && want != o.Text(etag) {
		return rest.Refuse(http.StatusPreconditionFailed, "NoEtagMatch", "The ETag %s is not that of %s", want, o.Text("id"))
	}
	return nil
}

func workRoutes() []route {
	return []route{
		rest.Reads(apiLB, "GetWorkRequest", pathLB+"loadBalancerWorkRequests/{id}", readObject(workLB, "work request", showWork)),
		rest.Reads(apiLB, "ListWorkRequests", pathLB+"loadBalancers/{id}/workRequests", listWork),
		rest.Reads(apiNLB, "GetWorkRequest", pathNLB+"workRequests/{id}", readObject(workNLB, "work request", showWork)),
		rest.Reads(apiNLB, "ListWorkRequests", pathNLB+"workRequests", listOf(workNLB, showWork, true)),
		rest.Reads(apiNLB, "ListWorkRequestErrors", pathNLB+"workRequests/{id}/errors", workErrors),
	}
}

func showWork(_ *state, o rest.Object) rest.Object { return o.Without("owner") }

func listWork(v *visit) (any, error) {
	if _, ok := v.State.Get(balancers, v.Params["id"]); !ok {
		return nil, notFound("load balancer", v.Params["id"])
	}
	return v.page(v.State.All(workLB, rest.Where("owner", v.Params["id"])), showWork, false)
}

func workErrors(v *visit) (any, error) {
	w, ok := v.State.Get(workNLB, v.Params["id"])
	if !ok {
		return nil, notFound("work request", v.Params["id"])
	}
	items := []any{}
	if w.Text("status") == failed {
		items = append(items, rest.Object{"code": "InternalError", "message": "the change could not be made", "timestamp": w.Text("timeFinished")})
	}
	return rest.Object{"items": items}, nil
}
