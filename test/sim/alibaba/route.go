package alibaba

import (
	"net/http"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// route is one action of the API.
type route = rest.Route[*visit]

func readRoute(action string, run func(*visit) (any, error)) route {
	return routeOf(apiSLB, action, run)
}

func routeOf(api, action string, run func(*visit) (any, error)) route {
	return route{API: api, Name: action, Method: http.MethodPost, Path: "/" + api + "/" + action, Status: http.StatusOK, Run: run}
}

func writeRoute(action string, run func(*visit) (any, error)) route {
	r := readRoute(action, run)
	r.Write = true
	return r
}

// allRoutes is the table of all actions.
func allRoutes() []route {
	out := []route{
		readRoute("DescribeLoadBalancers", listBalancers),
		readRoute("DescribeLoadBalancerAttribute", readsOf(getBalancer)),
		writeRoute("CreateLoadBalancer", createBalancer),
		writeRoute("DeleteLoadBalancer", changeRoute("", deleteBalancer)),
		writeRoute("SetLoadBalancerName", changeRoute("", setName)),
		writeRoute("SetLoadBalancerDeleteProtection", changeRoute("", setDeleteProtection)),
		writeRoute("SetLoadBalancerModificationProtection", changeRoute("", setModificationProtection)),
		writeRoute("ModifyLoadBalancerInstanceChargeType", changeRoute("", setChargeType)),
		writeRoute("ModifyLoadBalancerInstanceSpec", changeRoute("", setSize)),
		writeRoute("ModifyLoadBalancerInternetSpec", changeRoute("", setInternet)),
		writeRoute("TagResources", tagResources),
		writeRoute("UntagResources", untagResources),
		readRoute("ListTagResources", listTags),
		readRoute("DescribeLoadBalancerListeners", listListeners),
		writeRoute("StartLoadBalancerListener", changeRoute("ServiceIsConfiguring", startListener)),
		writeRoute("StopLoadBalancerListener", changeRoute("ServiceIsStopping", stopListener)),
		writeRoute("DeleteLoadBalancerListener", changeRoute("ServiceIsStopping", deleteListener)),
		readRoute("DescribeVServerGroups", readsOf(listGroups)),
		readRoute("DescribeVServerGroupAttribute", getGroup),
		writeRoute("CreateVServerGroup", changeRoute("", createGroup)),
		writeRoute("AddVServerGroupBackendServers", ofGroup(addServers)),
		writeRoute("RemoveVServerGroupBackendServers", ofGroup(removeServers)),
		writeRoute("SetVServerGroupAttribute", ofGroup(setServers)),
		writeRoute("DeleteVServerGroup", ofGroup(deleteGroup)),
		readRoute("DescribeHealthStatus", readsOf(getHealth)),
		readRoute("DescribeAccessControlListAttribute", getList),
		readRoute("DescribeServerCertificates", listCertificates),
		readRoute("DescribeDomainExtensions", readsOf(listDomains)),
		writeRoute("CreateDomainExtension", changeRoute("", createDomain)),
		writeRoute("SetDomainExtensionAttribute", ofDomain(setDomain)),
		writeRoute("DeleteDomainExtension", ofDomain(deleteDomain)),
		routeOf(apiVPC, "DescribeEipAddresses", listAddresses),
		routeOf(apiVPC, "DescribeVpcAttribute", getVPC),
		routeOf(apiVPC, "DescribeVSwitches", listVSwitches),
		routeOf(apiECS, "DescribeNetworkInterfaces", listInterfaces),
		routeOf(apiQuotas, "ListProductQuotas", listQuotas),
		{API: apiSTS, Name: "AssumeRoleWithOIDC", Method: http.MethodPost, Path: "/" + apiSTS + "/AssumeRoleWithOIDC", Status: http.StatusOK, Run: assumeRole},
	}
	out = append(out, netRoutes()...)
	for _, protocol := range []string{"tcp", "udp", "http", "https"} {
		word := strings.ToUpper(protocol)
		out = append(out, writeRoute("CreateLoadBalancer"+word+"Listener", changeRoute("", createListener(protocol))),
			writeRoute("SetLoadBalancer"+word+"ListenerAttribute", changeRoute("ServiceIsConfiguring", setListener(protocol))))
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

// changeRoute runs a write about one load balancer, which must be at rest, and is busy after it. The
// code is what the action is refused with while it is busy.
func changeRoute(code string, run func(v *visit, lb rest.Object) (any, error)) func(*visit) (any, error) {
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

// netRoutes is the table of the actions of network load balancers and security groups.
func netRoutes() []route {
	write := func(api, action string, run func(*visit) (any, error)) route {
		r := routeOf(api, action, run)
		r.Write = true
		return r
	}
	out := []route{
		routeOf(apiNLB, "ListLoadBalancers", listNets), routeOf(apiNLB, "GetLoadBalancerAttribute", getNet), routeOf(apiNLB, "ListListeners", listNetListeners), routeOf(apiNLB, "ListServerGroups", listServerGroups),
		routeOf(apiNLB, "ListServerGroupServers", listNetServers), routeOf(apiNLB, "ListListenerCertificates", listNetCertificates), routeOf(apiNLB, "ListAsynJobs", listJobs), routeOf(apiNLB, "GetJobStatus", getJob),
		routeOf(apiNLB, "GetListenerHealthStatus", getNetHealth), routeOf(apiNLB, "ListTagResources", listNetTags),
		routeOf(apiECS, "DescribeSecurityGroups", listSecurityGroups), routeOf(apiECS, "DescribeSecurityGroupAttribute", getSecurityGroup),
	}
	for action, run := range map[string]func(*visit) (any, error){
		"CreateLoadBalancer": createNet, "DeleteLoadBalancer": deleteNet, "UpdateLoadBalancerProtection": protectNet, "UpdateLoadBalancerAttribute": ofNet(setNet),
		"UpdateLoadBalancerAddressTypeConfig": ofNet(setNetAddress), "UpdateLoadBalancerZones": ofNet(setNetZones), "EnableLoadBalancerIpv6Internet": ofNet(setIPv6("Internet")),
		"DisableLoadBalancerIpv6Internet": ofNet(setIPv6("Intranet")), "LoadBalancerJoinSecurityGroup": ofNet(joinSecurity), "LoadBalancerLeaveSecurityGroup": ofNet(leaveSecurity),
		"AttachCommonBandwidthPackageToLoadBalancer": ofNet(attachPackage), "DetachCommonBandwidthPackageFromLoadBalancer": ofNet(detachPackage),
		"TagResources": taggedNet(addNetTags), "UntagResources": taggedNet(removeNetTags), "CreateServerGroup": createServerGroup, "UpdateServerGroupAttribute": ofServerGroup(setServerGroup),
		"DeleteServerGroup": deleteServerGroup, "AddServersToServerGroup": ofServerGroup(changeNetServers(true, false)), "RemoveServersFromServerGroup": ofServerGroup(changeNetServers(false, true)),
		"UpdateServerGroupServersAttribute": ofServerGroup(changeNetServers(false, false)), "CreateListener": createNetListener, "UpdateListenerAttribute": ofNetListener(setNetListener),
		"StartListener": ofNetListener(startNetListener), "StopListener": ofNetListener(stopNetListener), "DeleteListener": ofNetListener(deleteNetListener),
		"AssociateAdditionalCertificatesWithListener": ofNetListener(addCertificates), "DisassociateAdditionalCertificatesWithListener": ofNetListener(removeCertificates),
	} {
		out = append(out, write(apiNLB, action, run))
	}
	for action, run := range map[string]func(*visit) (any, error){
		"CreateSecurityGroup": createSecurityGroup, "DeleteSecurityGroup": deleteSecurityGroup, "ModifySecurityGroupAttribute": setSecurityGroup, "AuthorizeSecurityGroup": addRules, "RevokeSecurityGroup": removeRules,
	} {
		out = append(out, write(apiECS, action, run))
	}
	return out
}
