package tencent

import (
	"net/http"

	"github.com/berth-lb/berth/test/sim/rest"
)

// route is one action of an API.
type route = rest.Route[*visit]

// The versions of the APIs.
const (
	versionCLB = "2018-03-17"
	versionTag = "2018-08-13"
)

func readRoute(action string, run func(*visit) (any, error)) route {
	return route{API: apiCLB, Name: action, Method: http.MethodPost, Path: "/" + versionCLB + "/" + action, Status: http.StatusOK, Run: run}
}

func writeRoute(action string, run func(*visit) (any, error)) route {
	r := readRoute(action, run)
	r.Write = true
	return r
}

// allRoutes is the table of all actions.
func allRoutes() []route {
	return []route{
		readRoute("DescribeLoadBalancers", listBalancers),
		readRoute("DescribeTaskStatus", getTask),
		readRoute("DescribeQuota", getQuotas),
		readRoute("DescribeListeners", listListeners),
		readRoute("DescribeTargets", listTargets),
		writeRoute("CreateLoadBalancer", createBalancer),
		writeRoute("DeleteLoadBalancer", deleteBalancers),
		writeRoute("ModifyLoadBalancerAttributes", changeRoute(setAttributes)),
		writeRoute("SetLoadBalancerSecurityGroups", changeRoute(setGroups)),
		writeRoute("CreateListener", changeRoute(createListeners)),
		writeRoute("ModifyListener", changeRoute(setListener)),
		writeRoute("DeleteLoadBalancerListeners", changeRoute(deleteListeners)),
		writeRoute("CreateRule", changeRoute(createRules)),
		writeRoute("ModifyRule", changeRoute(setRule)),
		writeRoute("ModifyDomainAttributes", changeRoute(setDomain)),
		writeRoute("DeleteRule", changeRoute(deleteRules)),
		writeRoute("BatchRegisterTargets", changeRoute(registerTargets)),
		writeRoute("BatchDeregisterTargets", changeRoute(deregisterTargets)),
		writeRoute("BatchModifyTargetWeight", changeRoute(weighTargets)),
	}
}

// Operations are all actions that the simulator knows, with the API before them.
func Operations() []string { return rest.Operations(allRoutes()) }

// balancer returns a load balancer by its id.
func (v *visit) balancer(id string) (rest.Object, error) {
	lb, ok := v.State.Get(balancers, id)
	if !ok || lb.Text("Region") != v.region() {
		return nil, refuseCall("InvalidParameter.LBIdNotFound", "The load balancer %s is not found.", id)
	}
	return lb, nil
}

// changeRoute runs a write about one load balancer, which must be at rest, as a task.
func changeRoute(run func(v *visit, lb rest.Object) (rest.Object, error)) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		lb, err := v.balancer(v.Body.Text(owner))
		if err != nil {
			return nil, err
		}
		if err := v.atRest(lb.Text("id")); err != nil {
			return nil, err
		}
		if v.Breaks {
			return v.begin(lb.Text("id"), "", nil), nil
		}
		values, err := run(v, lb)
		if err != nil {
			return nil, err
		}
		return v.begin(lb.Text("id"), "", values), nil
	}
}

// atRest refuses a write while a task of the load balancer runs.
func (v *visit) atRest(id string) error {
	if v.State.isBusy(id) {
		return refuseCall("FailedOperation.ResourceInOperating", "The load balancer %s is not in normal state: another operation is in progress.", id)
	}
	return nil
}

// begin starts the task of a call and returns its answer. A task without a duration has ended.
func (v *visit) begin(balancer, ends string, values rest.Object) rest.Object {
	answer := v.answer(values)
	id := answer.Object("Response").Text("RequestId")
	v.State.tasks[id] = task{balancer: balancer, until: v.Time.Add(v.cloud.opt.Task), running: true, failed: v.Breaks, ends: ends}
	v.State.Settle(v.Time)
	return answer
}

// getTask answers how far a task is. Source: CLB API 2018-03-17, DescribeTaskStatus.
func getTask(v *visit) (any, error) {
	t, ok := v.State.tasks[v.Body.Text("TaskId")]
	switch {
	case !ok:
		return nil, refuseCall("InvalidParameter", "The task %s is not found.", v.Body.Text("TaskId"))
	case t.running:
		return v.answer(rest.Object{"Status": 2}), nil
	case t.failed:
		return v.answer(rest.Object{"Status": 1, "Message": "The task has failed."}), nil
	}
	return v.answer(rest.Object{"Status": 0, "LoadBalancerIds": []any{t.balancer}}), nil
}

// count returns the number of load balancers of a network type in the region of the call.
func (v *visit) count(kind string) int {
	return len(v.State.All(balancers, func(lb rest.Object) bool {
		return lb.Text("LoadBalancerType") == kind && lb.Text("Region") == v.region()
	}))
}

// getQuotas answers the quotas of the region. Those of what one load balancer can have come without a number in use.
// Source: CLB API 2018-03-17, DescribeQuota.
func getQuotas(v *visit) (any, error) {
	most := v.cloud.opt.Limits
	items := []any{rest.Object{"QuotaId": "TOTAL_LISTENER_QUOTA", "QuotaCurrent": nil, "QuotaLimit": most.Listeners}}
	for id, kind := range map[string]string{"TOTAL_OPEN_CLB_QUOTA": "OPEN", "TOTAL_INTERNAL_CLB_QUOTA": "INTERNAL"} {
		items = append(items, rest.Object{"QuotaId": id, "QuotaCurrent": v.count(kind), "QuotaLimit": most.LoadBalancers})
	}
	return v.answer(rest.Object{"QuotaSet": items}), nil
}
