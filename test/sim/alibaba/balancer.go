package alibaba

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// listBalancers answers load balancers, by name or tags if those are given.
func listBalancers(v *visit) (any, error) {
	var tags []struct{ TagKey, TagValue string }
	if text := v.text("Tags"); text != "" {
		if err := json.Unmarshal([]byte(text), &tags); err != nil {
			return nil, refuseInvalid("Tags", "%v", err)
		}
	}
	found := v.State.All(balancers, func(lb rest.Object) bool {
		for _, t := range tags {
			if value, ok := tagsOf(lb)[t.TagKey]; !ok || value != t.TagValue {
				return false
			}
		}
		return v.text("LoadBalancerName") == "" || lb.Text("LoadBalancerName") == v.text("LoadBalancerName")
	})
	items, answer, err := v.page(found)
	if err != nil {
		return nil, err
	}
	for i, o := range items {
		lb, _ := rest.AsObject(o)
		items[i] = lb.With(rest.Object{"InternetChargeTypeAlias": lb.Text("InternetChargeType"), "InternetChargeType": "4"}).Without("id")
	}
	return answerDone(answer).With(rest.Object{"LoadBalancers": rest.Object{"LoadBalancer": items}}), nil
}

func getBalancer(_ *visit, lb rest.Object) (any, error) { return answerDone(lb).Without("id"), nil }

// tagsOf returns the tags of a load balancer.
func tagsOf(lb rest.Object) map[string]string {
	out := map[string]string{}
	for _, t := range lb.Object("Tags").Objects("Tag") {
		out[t.Text("TagKey")] = t.Text("TagValue")
	}
	return out
}

// oneOf checks a parameter that has a closed list of values, and returns the first for an absent
// one.
func (v *visit) oneOf(name string, values ...string) (string, error) {
	text := v.text(name)
	if text == "" {
		return values[0], nil
	}
	if !slices.Contains(values, text) {
		return "", refuseInvalid(name, "%q is not one of %s", text, strings.Join(values, ", "))
	}
	return text, nil
}

// wordTable returns the parameters of a load balancer with a closed list of values, the default first.
func wordTable() map[string][]string {
	return map[string][]string{
		"AddressType": {"internet", "intranet"}, "AddressIPVersion": {"ipv4", "ipv6"}, "InternetChargeType": {"paybytraffic", "paybybandwidth"},
		"InstanceChargeType": {"PayByCLCU", "PayBySpec"}, "DeleteProtection": {"off", "on"}, "ModificationProtectionStatus": {"NonProtection", "ConsoleProtection"},
		"LoadBalancerSpec": {"", "slb.s1.small", "slb.s2.small", "slb.s2.medium", "slb.s3.small", "slb.s3.medium", "slb.s3.large"},
	}
}

func (v *visit) setWord(lb rest.Object, name string) error {
	text, err := v.oneOf(name, wordTable()[name]...)
	lb[name] = text
	return err
}

// Forms of the times of creations. Source: API of SLB, DescribeLoadBalancers, and of NLB, ListLoadBalancers.
const (
	formClassic = "2006-01-02T15:04Z"
	formNet     = time.RFC3339
)

// createBalancer creates a load balancer, once for each token.
func createBalancer(v *visit) (any, error) {
	if token := v.text("ClientToken"); token != "" {
		if earlier, ok := v.State.Get(tokens, token); ok {
			v.Again = true
			v.Answer.Status, v.Answer.Body = http.StatusOK, earlier["answer"]
			return nil, nil
		}
	}
	if n := len(v.State.All(balancers, nil)); n >= v.cloud.opt.Limits.LoadBalancers {
		return nil, rest.Refuse(http.StatusBadRequest, "QuotaLimitExceeds.LoadBalancer", "The quota of %d load balancers is exceeded.", n)
	}
	id := v.State.id("lb-bp1")
	lb := rest.Object{
		"id": id, "LoadBalancerId": id, "LoadBalancerName": v.text("LoadBalancerName"), "LoadBalancerStatus": "active", "RegionId": v.cloud.opt.Region, "PayType": "PayOnDemand",
		"ResourceGroupId": v.text("ResourceGroupId"), "MasterZoneId": v.text("MasterZoneId"), "SlaveZoneId": v.text("SlaveZoneId"),
		"ModificationProtectionReason": v.text("ModificationProtectionReason"), "Bandwidth": v.number("Bandwidth"), "VpcId": "", "VSwitchId": "", "NetworkType": "classic",
		"CreateTime": v.Time.UTC().Format(formClassic),
	}
	if lb.Text("ResourceGroupId") == "" {
		lb["ResourceGroupId"] = "rg-acfdefault"
	}
	if lb.Text("LoadBalancerName") == "" {
		lb["LoadBalancerName"] = "auto_named_slb"
	}
	if lb.Text("MasterZoneId") == "" {
		lb["MasterZoneId"], lb["SlaveZoneId"] = v.cloud.opt.Region+"-h", v.cloud.opt.Region+"-i"
	}
	for name := range wordTable() {
		if err := v.setWord(lb, name); err != nil {
			return nil, err
		}
	}
	if err := v.checkName("LoadBalancerName", lb.Text("LoadBalancerName")); err != nil {
		return nil, err
	}
	if lb.Text("InstanceChargeType") == "PayByCLCU" && v.text("LoadBalancerSpec") != "" {
		return nil, refuseInvalid("LoadBalancerSpec", "a load balancer that is paid by use has none")
	}
	if err := v.place(lb); err != nil {
		return nil, err
	}
	if err := v.addTags(lb); err != nil {
		return nil, err
	}
	v.State.Put(balancers, lb)
	answer := answerDone(lb.Only("LoadBalancerId", "LoadBalancerName", "Address", "AddressIPVersion", "NetworkType", "VpcId", "VSwitchId", "ResourceGroupId"))
	if token := v.text("ClientToken"); token != "" {
		v.State.Put(tokens, rest.Object{"id": token, "answer": answer})
	}
	return answer, nil
}

// checkName checks the length of a name or a description.
func (v *visit) checkName(name, value string) error {
	if n := len([]rune(value)); n < 1 || n > v.cloud.opt.Limits.Name {
		return refuseInvalid(name, "has %d characters, and 1 to %d are possible", n, v.cloud.opt.Limits.Name)
	}
	return nil
}

// place gives a new load balancer its address: a public one, or one of its vSwitch.
func (v *visit) place(lb rest.Object) error {
	if lb.Text("AddressType") == "internet" {
		if v.text("VSwitchId") != "" || v.text("Address") != "" {
			return refuseInvalid("VSwitchId", "a public load balancer has none")
		}
		if lb.Text("AddressIPVersion") == "ipv6" {
			lb["NetworkType"], lb["Address"] = "vpc", fmt.Sprintf("2408:4005::%x", v.State.made+1)
			return nil
		}
		lb["NetworkType"], lb["Address"] = "vpc", fmt.Sprintf("47.98.%d.%d", v.State.made/250%250, v.State.made%250+1)
		return nil
	}
	if v.text("VSwitchId") == "" {
		lb["Address"] = fmt.Sprintf("10.81.%d.%d", v.State.made/250%250, v.State.made%250+1)
		return nil
	}
	sub, ok := v.State.Get(vswitches, v.text("VSwitchId"))
	if !ok {
		return refuseMissing("VSwitchId", v.text("VSwitchId"))
	}
	if free, _ := sub.Number("AvailableIpAddressCount"); free == 0 {
		return rest.Refuse(http.StatusBadRequest, "VSwitchAvailableIpNotExist", "The vSwitch %s has no available IP address.", sub.Text("id"))
	}
	lb["NetworkType"], lb["VpcId"], lb["VSwitchId"] = "vpc", sub.Text("VpcId"), sub.Text("id")
	within := netip.MustParsePrefix(sub.Text("CidrBlock"))
	base := within.Addr().As4()
	lb["Address"] = netip.AddrFrom4([4]byte{base[0], base[1], base[2], byte(v.State.made%200 + 20)}).String()
	if asked := v.text("Address"); asked != "" {
		a, err := netip.ParseAddr(asked)
		if err != nil || !within.Contains(a) {
			return refuseInvalid("Address", "%q is not in %s", asked, within)
		}
		if len(v.State.Having(balancers, "Address", asked)) > 0 {
			return rest.Refuse(http.StatusBadRequest, "IpAddress.Used", "The address %s is in use.", asked)
		}
		lb["Address"] = asked
	}
	return nil
}

// deleteBalancer deletes a load balancer with all of its parts.
func deleteBalancer(v *visit, lb rest.Object) (any, error) {
	id := lb.Text("id")
	if lb.Text("DeleteProtection") == "on" {
		return nil, rest.Refuse(http.StatusBadRequest, "OperationDenied.DeleteProtectionIsOn", "The operation is denied because the delete protection of the load balancer %s is on.", id)
	}
	for _, c := range []string{listeners, groups, domains} {
		for _, o := range v.State.Having(c, owner, id) {
			v.State.Drop(c, o.Text("id"))
		}
	}
	v.State.Drop(balancers, id)
	return answerDone(nil), nil
}

func setName(v *visit, lb rest.Object) (any, error) {
	if err := v.checkName("LoadBalancerName", v.text("LoadBalancerName")); err != nil {
		return nil, err
	}
	v.State.Change(balancers, lb.Text("id"), rest.Object{"LoadBalancerName": v.text("LoadBalancerName")})
	return answerDone(nil), nil
}

func setDeleteProtection(v *visit, lb rest.Object) (any, error) {
	return v.rewrite(lb, "DeleteProtection")
}

func setModificationProtection(v *visit, lb rest.Object) (any, error) {
	return v.rewrite(lb, "ModificationProtectionStatus")
}

// rewrite changes parameters with a closed list of values.
func (v *visit) rewrite(lb rest.Object, names ...string) (any, error) {
	next := lb.With(nil)
	for _, name := range names {
		if err := v.setWord(next, name); err != nil {
			return nil, err
		}
	}
	v.State.Put(balancers, next)
	return answerDone(nil), nil
}

func setChargeType(v *visit, lb rest.Object) (any, error) {
	if v.text("InstanceChargeType") == "PayBySpec" && v.text("LoadBalancerSpec") == "" {
		return nil, refuseInvalid("LoadBalancerSpec", "is missing")
	}
	return v.rewrite(lb, "InstanceChargeType", "LoadBalancerSpec")
}

func setSize(v *visit, lb rest.Object) (any, error) {
	if lb.Text("InstanceChargeType") != "PayBySpec" {
		return nil, rest.Refuse(http.StatusBadRequest, "OperationDenied.InstanceChargeType", "The load balancer is not paid by its size.")
	}
	return v.rewrite(lb, "LoadBalancerSpec")
}

func setInternet(v *visit, lb rest.Object) (any, error) {
	if lb.Text("AddressType") != "internet" {
		return nil, rest.Refuse(http.StatusBadRequest, "OperationDenied.AddressType", "The load balancer is not public.")
	}
	if v.text("Bandwidth") != "" {
		lb = lb.With(rest.Object{"Bandwidth": v.number("Bandwidth")})
	}
	if v.text("InternetChargeType") == "" {
		v.State.Put(balancers, lb)
		return answerDone(nil), nil
	}
	return v.rewrite(lb, "InternetChargeType")
}
