package baidu

import (
	"net/http"
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

// route is one call of an API.
type route = rest.Route[*visit]

func readRoute(api, name, path string, run func(*visit) (any, error)) route {
	return rest.Reads(api, name, path, run)
}

func writeRoute(api, name, method, path string, run func(*visit) (any, error)) route {
	return rest.Writes(api, name, method, path, http.StatusOK, run)
}

// allRoutes is the table of all calls. Names are those of the operations of the API references.
func allRoutes() []route {
	return slices.Concat(balancerRoutes(app), balancerRoutes(normal), appRoutes(), addressRoutes(), []route{
		readRoute(apiBLB, "DescribeBackendServers", "/v1/blb/{id}/backendserver", listBackends),
		writeRoute(apiBLB, "AddBackendServers", http.MethodPost, "/v1/blb/{id}/backendserver", changeRoute(normal, addBackends)),
		writeRoute(apiBLB, "RemoveBackendServers", http.MethodPut, "/v1/blb/{id}/backendserver", changeRoute(normal, removeBackends)),
	})
}

// balancerRoutes are the calls that both kinds of load balancers have.
func balancerRoutes(kind string) []route {
	all, begin := "/v1/"+kind, ""
	if kind == app {
		begin = "App"
	}
	one := all + "/{id}"
	out := []route{
		readRoute(apiBLB, "Describe"+begin+"LoadBalancers", all, listBalancers(kind)),
		readRoute(apiBLB, "Describe"+begin+"LoadBalancerDetail", one, getBalancer(kind)),
		writeRoute(apiBLB, "Create"+begin+"LoadBalancer", http.MethodPost, all, createBalancer(kind)),
		writeRoute(apiBLB, "Delete"+begin+"LoadBalancer", http.MethodDelete, one, deleteBalancer(kind)),
		readRoute(apiBLB, "Describe"+begin+"AllListeners", one+"/listener", listListeners(kind)),
		writeRoute(apiBLB, "Delete"+begin+"Listeners", http.MethodPut, one+"/listener"+actionMark+"batchdelete", changeRoute(kind, deleteListeners)),
	}
	for _, protocol := range []string{"TCP", "UDP"} {
		path := one + "/" + protocol + "listener"
		out = append(out,
			writeRoute(apiBLB, "Create"+begin+protocol+"Listener", http.MethodPost, path, changeRoute(kind, createListener(protocol))),
			writeRoute(apiBLB, "Update"+begin+protocol+"Listener", http.MethodPut, path, changeRoute(kind, updateListener(protocol))))
	}
	return out
}

// appRoutes are the calls about groups and policies of application load balancers.
func appRoutes() []route {
	const (
		one      = "/v1/appblb/{id}"
		servers  = one + "/appservergroup"
		ports    = one + "/appservergroupport"
		members  = one + "/blbrs"
		rules    = one + "/policys"
		pool     = one + "/ipgroup"
		protocol = pool + "/backendpolicy"
		pods     = pool + "/member"
	)
	write := func(name, method, path string, run func(*visit, rest.Object) (rest.Object, error)) route {
		return writeRoute(apiBLB, name, method, path, changeRoute(app, run))
	}
	return []route{
		readRoute(apiBLB, "DescribeAppServerGroup", servers, listGroups(groups, "appServerGroupList")),
		write("CreateAppServerGroup", http.MethodPost, servers, createGroup(groups)),
		write("DeleteAppServerGroup", http.MethodPut, servers+actionMark+"delete", deleteGroup(groups)),
		write("CreateAppServerGroupPort", http.MethodPost, ports, createTarget(groups)),
		write("UpdateAppServerGroupPort", http.MethodPut, ports, updateTarget("portId")),
		write("DeleteAppServerGroupPort", http.MethodPut, ports+actionMark+"batchdelete", deleteTargets("portIdList")),
		readRoute(apiBLB, "DescribeBlbRs", members, listMembers(groups)),
		write("CreateBlbRs", http.MethodPost, members, addMembers(groups)),
		write("DeleteBlbRs", http.MethodPut, members+actionMark+"batchdelete", removeMembers(groups)),
		readRoute(apiBLB, "DescribePolicys", rules, listPolicies),
		write("CreatePolicys", http.MethodPost, rules, createPolicies),
		write("DeletePolicys", http.MethodPut, rules+actionMark+"batchdelete", deletePolicies),
		readRoute(apiBLB, "DescribeAppIpGroup", pool, listGroups(pools, "appIpGroupList")),
		write("CreateAppIpGroup", http.MethodPost, pool, createGroup(pools)),
		write("DeleteAppIpGroup", http.MethodPut, pool+actionMark+"delete", deleteGroup(pools)),
		write("CreateAppIpGroupBackendPolicy", http.MethodPost, protocol, createTarget(pools)),
		write("UpdateAppIpGroupBackendPolicy", http.MethodPut, protocol, updateTarget("id")),
		write("DeleteAppIpGroupBackendPolicy", http.MethodPut, protocol+actionMark+"delete", deleteTargets("backendPolicyIdList")),
		readRoute(apiBLB, "DescribeAppIpGroupMember", pods, listMembers(pools)),
		write("CreateAppIpGroupMember", http.MethodPost, pods, addMembers(pools)),
		write("DeleteAppIpGroupMember", http.MethodPut, pods+actionMark+"delete", removeMembers(pools)),
	}
}

func addressRoutes() []route {
	const all, one = "/v1/eip", "/v1/eip/{eip}"
	return []route{
		readRoute(apiEIP, "ListEip", all, listAddresses),
		writeRoute(apiEIP, "CreateEip", http.MethodPost, all, createAddress),
		writeRoute(apiEIP, "BindEip", http.MethodPut, one+actionMark+"bind", bindAddress),
		writeRoute(apiEIP, "UnBindEip", http.MethodPut, one+actionMark+"unbind", unbindAddress),
		writeRoute(apiEIP, "ResizeEip", http.MethodPut, one+actionMark+"resize", resizeAddress),
		writeRoute(apiEIP, "DeleteEip", http.MethodDelete, one, deleteAddress),
		readRoute(apiQuota, "QuotaCenterQuery", "/v1/quota_center", listQuotas),
	}
}

// Operations are all calls that the simulator knows, with the API before them.
func Operations() []string { return rest.Operations(allRoutes()) }

// balancer returns the load balancer of the path.
func (v *visit) balancer(kind string) (rest.Object, error) {
	lb, ok := v.State.Get(balancers, v.Params["id"])
	if !ok || lb.Text(kindOf) != kind {
		return nil, refuseMissing("load balancer", v.Params["id"])
	}
	return lb, nil
}

// changeRoute runs a write about one load balancer, which must be at rest.
func changeRoute(kind string, run func(v *visit, lb rest.Object) (rest.Object, error)) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		lb, err := v.balancer(kind)
		if err != nil {
			return nil, err
		}
		return v.once(func() (rest.Object, error) {
			if err := v.atRest(lb); err != nil {
				return nil, err
			}
			answer, err := run(v, lb)
			if err == nil {
				v.begin(balancers, lb.Text("id"), updating)
			}
			return answer, err
		})
	}
}

// atRest refuses a write while a load balancer is changing.
func (v *visit) atRest(lb rest.Object) error {
	if lb.Text("status") != available {
		return rest.Refuse(http.StatusConflict, "LastOperationNotFinished", "The last operation of %s has not finished.", lb.Text("id"))
	}
	return nil
}

// begin starts a change of a load balancer or an address. One without a duration has ended.
func (v *visit) begin(collection, id, status string) {
	v.State.Change(collection, id, rest.Object{"status": status})
	v.State.until[id] = v.Time.Add(v.cloud.opt.Busy)
	if v.cloud.opt.Busy == 0 {
		v.State.Settle(v.Time)
	}
}
