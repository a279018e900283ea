package tencent

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// Greatest numbers of a call. Source: CLB API 2018-03-17, DescribeLoadBalancers, DeleteLoadBalancer.
const (
	mostIDs  = 20
	mostPage = 100
)

// listBalancers answers load balancers, by ids, tags and network type if those are given. Ids that do
// not exist are left out.
func listBalancers(v *visit) (any, error) {
	ids := v.Body.Texts("LoadBalancerIds")
	limit, offset := numberOf(v.Body, "Limit", 20), numberOf(v.Body, "Offset", 0)
	switch {
	case len(ids) > mostIDs:
		return nil, refuseCall("InvalidParameterValue.Length", "LoadBalancerIds has more than %d ids.", mostIDs)
	case limit > mostPage:
		return nil, refuseValue("Limit", "%d is more than %d", limit, mostPage)
	}
	found := v.State.All(balancers, func(lb rest.Object) bool {
		made, _ := time.Parse(timeFormat, lb.Text("CreateTime"))
		switch {
		case lb.Text("Region") != v.region(), len(ids) > 0 && !slices.Contains(ids, lb.Text("id")):
			return false
		case len(ids) == 0 && v.Time.Sub(made) < v.cloud.opt.TagLag:
			return false
		}
		return !slices.ContainsFunc(v.Body.Objects("Filters"), func(f rest.Object) bool { return !fitsFilter(lb, f) })
	})
	slices.Reverse(found) // the newest first
	items := []any{}
	for _, lb := range found[min(offset, len(found)):min(offset+limit, len(found))] {
		items = append(items, lb.Without("id", "later", "traffic", "Region"))
	}
	return v.answer(rest.Object{"TotalCount": len(found), "LoadBalancerSet": items}), nil
}

// timeFormat is that of times in answers.
const timeFormat = "2006-01-02 15:04:05"

// fitsFilter reports whether a load balancer fits a filter.
func fitsFilter(lb, filter rest.Object) bool {
	key, ok := strings.CutPrefix(filter.Text("Name"), "tag:")
	if !ok {
		return false
	}
	value, has := tagsOf(lb)[key]
	return has && slices.Contains(filter.Texts("Values"), value)
}

func tagsOf(lb rest.Object) map[string]string {
	out := map[string]string{}
	for _, t := range lb.Objects("Tags") {
		out[t.Text("TagKey")] = t.Text("TagValue")
	}
	return out
}

// createBalancer creates a load balancer, once for each token. It is listed at once, and has an
// address when its task ends.
func createBalancer(v *visit) (any, error) {
	token := v.Body.Text("ClientToken")
	if earlier, used := v.State.Get(tokens, token); token != "" && used {
		if _, lives := v.State.Get(balancers, earlier.Text("balancer")); !lives {
			return nil, refuseCall("InvalidParameter.ClientTokenLimitExceeded", "The order of the client token %s has ended.", token)
		}
		v.Again = true
		v.Answer.Status, v.Answer.Body = http.StatusOK, earlier["answer"]
		return nil, nil
	}
	kind := v.Body.Text("LoadBalancerType")
	if err := v.checkNew(kind); err != nil {
		return nil, err
	}
	id := v.State.id("lb-")
	network := v.Body.Object("InternetAccessible")
	lb := rest.Object{
		"id": id, owner: id, "LoadBalancerName": v.Body.Text("LoadBalancerName"), "LoadBalancerType": kind, "Forward": 1, "Status": 0, "LoadBalancerVips": []any{},
		"Domain": "", "LoadBalancerDomain": "", "VpcId": v.Body.Text("VpcId"), "SubnetId": v.Body.Text("SubnetId"), "AddressIPVersion": "ipv4", "IPv6Mode": "", "AddressIPv6": "",
		"ChargeType": "POSTPAID_BY_HOUR", "SecureGroups": []any{}, "LoadBalancerPassToTarget": v.Body.Truth("LoadBalancerPassToTarget"), "AttributeFlags": []any{}, "Isolation": 0,
		"SnatPro": v.Body.Truth("SnatPro"), "SnatIps": listOf(v.Body, "SnatIps"), "Tags": listOf(v.Body, "Tags"), "SlaType": v.Body.Text("SlaType"), "Region": v.region(),
		"NetworkAttributes": rest.Object{}, "CreateTime": v.Time.UTC().Format(timeFormat), "Zones": v.Body.List("Zones"),
	}
	if lb.Text("LoadBalancerName") == "" || len(v.State.Having(balancers, "LoadBalancerName", lb.Text("LoadBalancerName"))) > 0 {
		lb["LoadBalancerName"] = "lb_" + id[3:] // the API replaces a name that is taken
	}
	if kind == "OPEN" {
		charge := network.Text("InternetChargeType")
		if charge == "" {
			charge = "TRAFFIC_POSTPAID_BY_HOUR"
		}
		lb["NetworkAttributes"] = rest.Object{"InternetChargeType": charge, "InternetMaxBandwidthOut": numberOf(network, "InternetMaxBandwidthOut", 10)}
	}
	lb["later"] = v.place(lb)
	v.State.Put(balancers, lb)
	answer := v.begin(id, "created", rest.Object{"LoadBalancerIds": []any{id}, "DealName": "deal-" + id[3:]})
	if token != "" {
		v.State.Put(tokens, rest.Object{"id": token, "answer": answer, "balancer": id})
	}
	return answer, nil
}

func listOf(o rest.Object, name string) []any {
	if list := o.List(name); list != nil {
		return list
	}
	return []any{}
}

// checkNew checks the parameters of a new load balancer. Source: CLB API 2018-03-17, CreateLoadBalancer.
func (v *visit) checkNew(kind string) error {
	version := v.Body.Text("AddressIPVersion")
	subnet, known := v.State.Get(subnets, v.Body.Text("SubnetId"))
	switch {
	case kind != "OPEN" && kind != "INTERNAL":
		return refuseValue("LoadBalancerType", "%q is not OPEN or INTERNAL", kind)
	case v.count(kind) >= v.cloud.opt.Limits.LoadBalancers:
		return refuseCall("LimitExceeded", "The quota of %d load balancers of type %s is exceeded.", v.cloud.opt.Limits.LoadBalancers, kind)
	case v.Body.Text("VpcId") == v.cloud.Seed.VPC && v.region() != v.cloud.Seed.Region:
		return refuseCall("InvalidParameterValue", "The VPC %s is not found.", v.Body.Text("VpcId"))
	case kind == "INTERNAL" && (v.Body.Text("SubnetId") == "" || v.Body.Text("VpcId") == ""):
		return refuseCall("MissingParameter", "SubnetId and VpcId are required for an internal load balancer.")
	case kind == "OPEN" && v.Body.Text("SubnetId") != "" && version != "IPv6FullChain":
		return refuseValue("SubnetId", "a public load balancer of IPv4 has none")
	case version == "IPv6FullChain" && v.Body.Text("SubnetId") == "":
		return refuseCall("MissingParameter", "SubnetId is required for IPv6FullChain.")
	case v.Body.Text("SubnetId") != "" && (!known || subnet.Text("VpcId") != v.Body.Text("VpcId")):
		return refuseCall("InvalidParameterValue", "The subnet %s is not in the VPC %s.", v.Body.Text("SubnetId"), v.Body.Text("VpcId"))
	case known && numberOf(subnet, "AvailableIpAddressCount", 0) == 0:
		return refuseCall("ResourceInsufficient", "The subnet %s has no free address.", v.Body.Text("SubnetId"))
	case len(v.Body.List("Tags")) > v.cloud.opt.Limits.Tags:
		return refuseCall("InvalidParameterValue.Length", "Tags has more than %d pairs.", v.cloud.opt.Limits.Tags)
	case len([]rune(v.Body.Text("LoadBalancerName"))) > v.cloud.opt.Limits.Name:
		return refuseCall("InvalidParameterValue.Length", "LoadBalancerName has more than %d characters.", v.cloud.opt.Limits.Name)
	case version != "" && !slices.Contains([]string{"IPV4", "IPV6", "IPv6FullChain"}, version):
		return refuseValue("AddressIPVersion", "%q is not IPV4, IPV6 or IPv6FullChain", version)
	}
	charge := v.Body.Object("InternetAccessible").Text("InternetChargeType")
	if charge != "" && !slices.Contains([]string{"TRAFFIC_POSTPAID_BY_HOUR", "BANDWIDTH_POSTPAID_BY_HOUR", "BANDWIDTH_PACKAGE"}, charge) {
		return refuseValue("InternetChargeType", "%q is not known", charge)
	}
	return nil
}

// place returns what a new load balancer gets when its task ends: an address of its subnet, a public
// one or a domain.
func (v *visit) place(lb rest.Object) rest.Object {
	address := fmt.Sprintf("119.29.%d.%d", v.State.made/250%250, v.State.made%250+1)
	if sub, ok := v.State.Get(subnets, lb.Text("SubnetId")); ok && lb.Text("LoadBalancerType") == "INTERNAL" {
		base := netip.MustParsePrefix(sub.Text("CidrBlock")).Addr().As4()
		address = netip.AddrFrom4([4]byte{base[0], base[1], base[2], byte(v.State.made%200 + 20)}).String()
	}
	if asked := v.Body.Text("Vip"); asked != "" {
		address = asked
	}
	out := rest.Object{"LoadBalancerVips": []any{address}}
	six := fmt.Sprintf("2402:4e00::%x", v.State.made)
	switch v.Body.Text("AddressIPVersion") {
	case "IPV6":
		out = out.With(rest.Object{"AddressIPVersion": "ipv6", "IPv6Mode": "IPv6Nat64", "AddressIPv6": six})
	case "IPv6FullChain":
		out = rest.Object{"LoadBalancerVips": []any{}, "AddressIPVersion": "ipv6", "IPv6Mode": "IPv6FullChain", "AddressIPv6": six}
	}
	if v.cloud.opt.Domains && lb.Text("LoadBalancerType") == "OPEN" {
		out = rest.Object{"LoadBalancerVips": []any{}, "LoadBalancerDomain": lb.Text("id") + ".clb.ap-guangzhou.tencentclb.com"}
	}
	return out
}

// Guards of deletions. Source: CLB API 2018-03-17, DeleteLoadBalancer.
const (
	guardTargets = 20
	guardTraffic = 10 // Mbit/s
	guardWindow  = 5 * time.Minute
)

// deleteBalancers deletes load balancers with all of their parts.
func deleteBalancers(v *visit) (any, error) {
	ids := v.Body.Texts("LoadBalancerIds")
	if len(ids) == 0 || len(ids) > mostIDs {
		return nil, refuseCall("InvalidParameterValue.Length", "LoadBalancerIds has %d ids.", len(ids))
	}
	for _, id := range ids {
		lb, err := v.balancer(id)
		if err == nil {
			err = v.atRest(id)
		}
		if err == nil {
			err = v.guard(lb)
		}
		if err != nil {
			return nil, err
		}
	}
	for range ids {
		v.State.deleted[v.region()] = append(slices.Clone(v.State.deleted[v.region()]), v.Time)
	}
	return v.begin(ids[0], "deleted", nil), nil
}

// guard refuses a deletion that may be a mistake.
func (v *visit) guard(lb rest.Object) error {
	deleted := slices.DeleteFunc(slices.Clone(v.State.deleted[v.region()]), func(at time.Time) bool { return v.Time.Sub(at) >= guardWindow })
	v.State.deleted[v.region()] = deleted
	bound := 0
	for _, c := range []string{listeners, rules} {
		for _, o := range v.State.Having(c, owner, lb.Text("id")) {
			bound += len(o.List("Targets"))
		}
	}
	force := v.Body.Truth("ForceDelete")
	switch {
	case slices.Contains(lb.Texts("AttributeFlags"), "DeleteProtect"):
		return refuseCall("OperationDenied", "The deletion protection of the load balancer %s is on.", lb.Text("id"))
	case lb.Text("ChargeType") == "PREPAID":
		return refuseCall("UnsupportedOperation", "The load balancer %s is prepaid.", lb.Text("id"))
	case len(deleted) >= v.cloud.opt.Limits.Deletions:
		return refuseCall("FailedOperation.FrequencyCheckRisk", "%d load balancers were deleted within 5 minutes.", len(deleted))
	case bound >= guardTargets && !force:
		return refuseCall("FailedOperation.TargetNumCheckRisk", "%d targets are bound to the load balancer %s.", bound, lb.Text("id"))
	case bound > 0 && numberOf(lb, "traffic", 0) > guardTraffic && !force:
		return refuseCall("FailedOperation.TrafficCheckRisk", "The load balancer %s has traffic.", lb.Text("id"))
	}
	return nil
}

// setAttributes changes what a call names. Source: CLB API 2018-03-17, ModifyLoadBalancerAttributes.
func setAttributes(v *visit, lb rest.Object) (rest.Object, error) {
	next := lb.With(v.Body.Only("LoadBalancerName", "LoadBalancerPassToTarget", "SnatPro"))
	if network := v.Body.Object("InternetChargeInfo"); network != nil {
		if lb.Text("LoadBalancerType") != "OPEN" {
			return nil, refuseCall("UnsupportedOperation", "An internal load balancer has no bandwidth.")
		}
		next["NetworkAttributes"] = lb.Object("NetworkAttributes").With(network)
	}
	if on, given := v.Body["DeleteProtect"].(bool); given {
		next["AttributeFlags"] = []any{}
		if on {
			next["AttributeFlags"] = []any{"DeleteProtect"}
		}
	}
	v.State.Put(balancers, next)
	return nil, nil
}

// setGroups replaces the security groups of a load balancer.
func setGroups(v *visit, lb rest.Object) (rest.Object, error) {
	for _, id := range v.Body.Texts("SecurityGroups") {
		if _, ok := v.State.Get(groups, id); !ok || lb.Text("Region") != v.cloud.Seed.Region {
			return nil, refuseCall("InvalidParameterValue", "The security group %s is not found.", id)
		}
	}
	v.State.Put(balancers, lb.With(rest.Object{"SecureGroups": listOf(v.Body, "SecurityGroups")}))
	return nil, nil
}
