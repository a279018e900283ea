package alibaba

import (
	"net/http"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// route is one action of the API.
type route = rest.Route[*visit]

func reads(action string, run func(*visit) (any, error)) route {
	return route{API: apiSLB, Name: action, Method: http.MethodPost, Path: "/" + action, Status: http.StatusOK, Run: run}
}

func writes(action string, run func(*visit) (any, error)) route {
	r := reads(action, run)
	r.Write = true
	return r
}

// allRoutes is the table of all actions.
func allRoutes() []route {
	out := []route{
		reads("DescribeLoadBalancers", listBalancers),
		reads("DescribeLoadBalancerAttribute", readsOf(getBalancer)),
		writes("CreateLoadBalancer", createBalancer),
		writes("DeleteLoadBalancer", changes("", deleteBalancer)),
		writes("SetLoadBalancerName", changes("", setName)),
		writes("SetLoadBalancerDeleteProtection", changes("", setDeleteProtection)),
		writes("SetLoadBalancerModificationProtection", changes("", setModificationProtection)),
		writes("ModifyLoadBalancerInstanceChargeType", changes("", setChargeType)),
		writes("ModifyLoadBalancerInstanceSpec", changes("", setSize)),
		writes("ModifyLoadBalancerInternetSpec", changes("", setInternet)),
		writes("TagResources", tagResources),
		writes("UntagResources", untagResources),
		reads("ListTagResources", listTags),
		reads("DescribeLoadBalancerListeners", listListeners),
		writes("StartLoadBalancerListener", changes("ServiceIsConfiguring", startListener)),
		writes("StopLoadBalancerListener", changes("ServiceIsStopping", stopListener)),
		writes("DeleteLoadBalancerListener", changes("ServiceIsStopping", deleteListener)),
		reads("DescribeVServerGroups", readsOf(listGroups)),
		reads("DescribeVServerGroupAttribute", getGroup),
		writes("CreateVServerGroup", changes("", createGroup)),
		writes("AddVServerGroupBackendServers", ofGroup(addServers)),
		writes("RemoveVServerGroupBackendServers", ofGroup(removeServers)),
		writes("SetVServerGroupAttribute", ofGroup(setServers)),
		writes("DeleteVServerGroup", ofGroup(deleteGroup)),
	}
	for _, protocol := range []string{"tcp", "udp", "http", "https"} {
		word := strings.ToUpper(protocol)
		out = append(out, writes("CreateLoadBalancer"+word+"Listener", changes("", createListener(protocol))),
			writes("SetLoadBalancer"+word+"ListenerAttribute", changes("ServiceIsConfiguring", setListener(protocol))))
	}
	return out
}

// Operations are all actions that the simulator knows, with the API before them.
func Operations() []string { return rest.Operations(allRoutes()) }

// refuseBusy is the refusal of a call while a load balancer is busy.
// Source: aliyun/terraform-provider-alicloud:alicloud/errors.go (SlbIsBusy).
func refuseBusy(code string) *rest.Error {
	if code == "" {
		code = "OperationBusy"
	}
	return rest.Refuse(http.StatusBadRequest, code, "The operation is denied because the load balancer is being configured. Try again later.")
}

// balancer returns a load balancer by its id.
func (v *visit) balancer(id string) (rest.Object, error) {
	lb, ok := v.State.Get(balancers, id)
	if !ok {
		return nil, rest.Refuse(http.StatusNotFound, "InvalidLoadBalancerId.NotFound", "The specified LoadBalancerId does not exist.")
	}
	return lb, nil
}

// readsOf runs a read about one load balancer, which may have to be at rest.
func readsOf(run func(v *visit, lb rest.Object) (any, error)) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		lb, err := v.balancer(v.text("LoadBalancerId"))
		if err != nil {
			return nil, err
		}
		if _, busy := v.State.until[lb.Text("id")]; busy && v.cloud.opt.BusyReads {
			return nil, refuseBusy("")
		}
		return run(v, lb)
	}
}

// changes runs a write about one load balancer, which must be at rest, and is busy after it. The
// code is what the action is refused with while it is busy.
func changes(code string, run func(v *visit, lb rest.Object) (any, error)) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		lb, err := v.balancer(v.text("LoadBalancerId"))
		if err != nil {
			return nil, err
		}
		return v.change(lb, code, run)
	}
}

func (v *visit) change(lb rest.Object, code string, run func(v *visit, lb rest.Object) (any, error)) (any, error) {
	if _, busy := v.State.until[lb.Text("id")]; busy {
		return nil, refuseBusy(code)
	}
	result, err := run(v, lb)
	if err == nil && v.cloud.opt.Busy > 0 {
		v.State.until[lb.Text("id")] = v.Time.Add(v.cloud.opt.Busy)
	}
	return result, err
}

// ofGroup runs a write about one server group.
func ofGroup(run func(v *visit, lb, group rest.Object) (any, error)) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		group, ok := v.State.Get(groups, v.text("VServerGroupId"))
		if !ok {
			return nil, refuseMissing("VServerGroupId", v.text("VServerGroupId"))
		}
		lb, err := v.balancer(group.Text(owner))
		if err != nil {
			return nil, err
		}
		return v.change(lb, "BackendServer.configuring", func(v *visit, lb rest.Object) (any, error) { return run(v, lb, group) })
	}
}
