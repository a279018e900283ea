package alibaba

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// The network load balancers of the NLB API.
// Sources: API of NLB 2022-04-30; alibabacloud-go/nlb-20220430:client/client.go.

// States of load balancers, server groups and listeners.
const (
	active      = "Active"
	available   = "Available"
	running     = "Running"
	configuring = "Configuring"
	deleting    = "Deleting"
)

// Quotas of NLB. Source: Alibaba Cloud, quotas of NLB.
const (
	mostNets         = 60
	mostNetServers   = 400
	mostNetListeners = 50
	mostNetName      = 128
	mostDescription  = 256
	mostSecurity     = 4
)

// net returns the network load balancer of a call, which must be at rest for a write.
func (v *visit) net(writes bool) (rest.Object, error) {
	lb, ok := v.State.Get(nets, v.text("LoadBalancerId"))
	switch status := lb.Text("LoadBalancerStatus"); {
	case !ok:
		return nil, rest.Refuse(http.StatusNotFound, "ResourceNotFound.loadBalancer", "The specified resource of loadbalancer is not found.")
	case writes && status == configuring:
		return nil, rest.Refuse(http.StatusConflict, "Conflict.Lock", "The operation failed because of a lock conflict of %s.", lb.Text("id"))
	case writes && status != active:
		return nil, rest.Refuse(http.StatusBadRequest, "IncorrectStatus.loadbalancer", "The status of loadbalancer %s is incorrect: %s.", lb.Text("id"), status)
	}
	return lb, nil
}

// ofNet runs a write about one network load balancer. The change is a job, during which nothing else changes it.
func ofNet(run func(v *visit, lb rest.Object) (rest.Object, error)) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		lb, err := v.net(true)
		if err != nil {
			return nil, err
		}
		next, err := run(v, lb)
		if err != nil {
			return nil, err
		}
		return v.accept(nets, lb, next, "LoadBalancerStatus", active), nil
	}
}

// pageNet answers one page of a list of the NLB API.
func (v *visit) pageNet(field string, all []rest.Object, show func(rest.Object) rest.Object) (any, error) {
	size := v.number("MaxResults")
	if size == 0 {
		size = 20
	}
	if size > mostPage {
		return nil, refuseInvalid("MaxResults", "%d is more than %d", size, mostPage)
	}
	from, _ := strconv.Atoi(v.text("NextToken"))
	items := []any{}
	for _, o := range all[min(from, len(all)):min(from+size, len(all))] {
		items = append(items, show(o))
	}
	answer := answerDone(rest.Object{field: items, "MaxResults": size, "TotalCount": len(all)})
	if from+size < len(all) {
		answer["NextToken"] = strconv.Itoa(from + size)
	}
	return answer, nil
}

// isAsked reports whether an object is one that a list asks for by id and tags.
func (v *visit) isAsked(o rest.Object, ids []string) bool {
	if len(ids) > 0 && !slices.Contains(ids, o.Text("id")) {
		return false
	}
	for n := 1; v.query.Has("Tag." + strconv.Itoa(n) + ".Key"); n++ {
		at := "Tag." + strconv.Itoa(n)
		if value, ok := netTags(o)[v.text(at+".Key")]; !ok || value != v.text(at+".Value") {
			return false
		}
	}
	return true
}

func netTags(o rest.Object) map[string]string {
	out := map[string]string{}
	for _, t := range o.Objects("Tags") {
		out[t.Text("Key")] = t.Text("Value")
	}
	return out
}

// givenTags returns the tags of the call added to the tags of an object.
func (v *visit) givenTags(o rest.Object) []any {
	all := []any{}
	given := map[string]bool{}
	var added []any
	for n := 1; v.query.Has("Tag." + strconv.Itoa(n) + ".Key"); n++ {
		at := "Tag." + strconv.Itoa(n)
		given[v.text(at+".Key")] = true
		added = append(added, rest.Object{"Key": v.text(at + ".Key"), "Value": v.text(at + ".Value")})
	}
	for _, t := range o.Objects("Tags") {
		if !given[t.Text("Key")] {
			all = append(all, t)
		}
	}
	return append(all, added...)
}

func listNets(v *visit) (any, error) {
	ids := v.members("LoadBalancerIds")
	names := v.members("LoadBalancerNames")
	all := v.State.All(nets, func(o rest.Object) bool {
		return v.isAsked(o, ids) && (len(names) == 0 || slices.Contains(names, o.Text("LoadBalancerName")))
	})
	return v.pageNet("LoadBalancers", all, func(o rest.Object) rest.Object { return o.Without("id") })
}

func getNet(v *visit) (any, error) {
	lb, err := v.net(false)
	if err != nil {
		return nil, err
	}
	tags := []any{}
	for _, t := range lb.Objects("Tags") {
		tags = append(tags, rest.Object{"TagKey": t.Text("Key"), "TagValue": t.Text("Value")})
	}
	return answerDone(lb.Without("id")).With(rest.Object{"Tags": tags}), nil
}

// again answers a call whose token was answered before; false: it is new.
func (v *visit) again() bool {
	earlier, ok := v.State.Get(tokens, v.text("ClientToken"))
	if v.text("ClientToken") == "" || !ok {
		return false
	}
	v.Again = true
	v.Answer.Status, v.Answer.Body = http.StatusOK, earlier["answer"]
	return true
}

// answerOnce keeps the answer of a token.
func (v *visit) answerOnce(answer rest.Object) rest.Object {
	if token := v.text("ClientToken"); token != "" {
		v.State.Put(tokens, rest.Object{"id": token, "answer": answer})
	}
	return answer
}

// zonesOf returns the zones of the call.
func (v *visit) zonesOf() ([]any, error) {
	var out []any
	for n := 1; v.query.Has("ZoneMappings." + strconv.Itoa(n) + ".ZoneId"); n++ {
		at := "ZoneMappings." + strconv.Itoa(n) + "."
		vswitch, ok := v.State.Get(vswitches, v.text(at+"VSwitchId"))
		switch {
		case !ok:
			return nil, refuseMissing("VSwitchId", v.text(at+"VSwitchId"))
		case vswitch.Text("ZoneId") != v.text(at+"ZoneId"):
			return nil, refuseInvalid("ZoneId", "the vSwitch is in %s", vswitch.Text("ZoneId"))
		case v.query.Has(at+"PrivateIPv4Address") && v.text(at+"PrivateIPv4Address") == "":
			return nil, rest.Refuse(http.StatusBadRequest, "IllegalParam.PrivateIPv4Address", "The param of PrivateIPv4Address is illegal.")
		}
		private := v.text(at + "PrivateIPv4Address")
		if private == "" {
			private = fmt.Sprintf("192.168.%d.%d", 200+n, v.State.made%250+1)
		}
		out = append(out, rest.Object{"ZoneId": v.text(at + "ZoneId"), "VSwitchId": v.text(at + "VSwitchId"), "LoadBalancerAddresses": []any{
			rest.Object{"PrivateIPv4Address": private, "AllocationId": v.text(at + "AllocationId")},
		}})
	}
	if len(out) < 2 {
		return nil, rest.Refuse(http.StatusBadRequest, "IllegalParamSize.ZoneMappings", "At least two zones are needed.")
	}
	return out, nil
}

func createNet(v *visit) (any, error) {
	if v.again() {
		return nil, nil
	}
	if n := len(v.State.All(nets, nil)); n >= v.mostNets() {
		return nil, rest.Refuse(http.StatusBadRequest, "QuotaExceeded.LoadBalancer", "The quota of %d load balancers is exceeded.", n)
	}
	zones, err := v.zonesOf()
	if err != nil {
		return nil, err
	}
	if n := len([]rune(v.text("LoadBalancerName"))); n < 2 || n > mostNetName {
		return nil, refuseInvalid("LoadBalancerName", "has %d characters", n)
	}
	id := v.State.id("nlb-")
	lb := rest.Object{
		"id": id, "LoadBalancerId": id, "LoadBalancerName": v.text("LoadBalancerName"), "DNSName": id + "." + v.cloud.opt.Region + ".nlb.aliyuncs.com", "VpcId": v.text("VpcId"), "RegionId": v.cloud.opt.Region,
		"LoadBalancerType": "network", "LoadBalancerBusinessStatus": "Normal", "CreateTime": v.Time.UTC().Format(formNet), "CrossZoneEnabled": true, "SecurityGroupIds": []any{}, "ZoneMappings": zones, "Tags": v.givenTags(nil),
		"ResourceGroupId": standardText(v.text("ResourceGroupId"), "rg-acfdefault"), "BandwidthPackageId": v.text("BandwidthPackageId"), "Ipv6AddressType": "Intranet",
		"DeletionProtectionConfig":     rest.Object{"Enabled": v.text("DeletionProtectionConfig.Enabled") == "true"},
		"ModificationProtectionConfig": rest.Object{"Status": standardText(v.text("ModificationProtectionConfig.Status"), "NonProtection"), "Reason": v.text("ModificationProtectionConfig.Reason")},
	}
	for name, words := range map[string][]string{"AddressType": {"Internet", "Intranet"}, "AddressIpVersion": {"ipv4", "DualStack"}} {
		if lb[name], err = v.foldedWord(name, words...); err != nil {
			return nil, err
		}
	}
	v.begin(nets, nil, lb, "LoadBalancerStatus", "Provisioning", active, v.cloud.opt.Provision)
	return v.answerOnce(answerDone(rest.Object{"LoadbalancerId": id})), nil
}

func standardText(text, standard string) string {
	if text == "" {
		return standard
	}
	return text
}

// foldedWord checks a parameter with a closed list of values, which are not told apart by case.
func (v *visit) foldedWord(name string, words ...string) (string, error) {
	text := standardText(v.text(name), words[0])
	if at := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, text) }); at >= 0 {
		return words[at], nil
	}
	return "", refuseInvalid(name, "%q is not one of %s", text, strings.Join(words, ", "))
}

func deleteNet(v *visit) (any, error) {
	lb, err := v.net(true)
	if err != nil {
		return nil, err
	}
	if lb.Object("DeletionProtectionConfig").Truth("Enabled") {
		return nil, rest.Refuse(http.StatusBadRequest, "OperationDenied.DeletionProtectionEnabled", "The operation is denied because deletion protection of %s is enabled.", lb.Text("id"))
	}
	return v.remove(nets, lb, "LoadBalancerStatus"), nil
}

func protectNet(v *visit) (any, error) {
	lb, err := v.net(false)
	if err != nil {
		return nil, err
	}
	next := lb.With(nil)
	if text := v.text("DeletionProtectionEnabled"); text != "" {
		next["DeletionProtectionConfig"] = rest.Object{"Enabled": text == "true"}
	}
	if text := v.text("ModificationProtectionStatus"); text != "" {
		next["ModificationProtectionConfig"] = rest.Object{"Status": text, "Reason": v.text("ModificationProtectionReason")}
	}
	v.State.Put(nets, next)
	return answerDone(nil), nil
}

func setNet(v *visit, lb rest.Object) (rest.Object, error) {
	next := lb.With(nil)
	if name := v.text("LoadBalancerName"); name != "" {
		next["LoadBalancerName"] = name
	}
	if text := v.text("CrossZoneEnabled"); text != "" {
		next["CrossZoneEnabled"] = text == "true"
	}
	return next, nil
}

func setNetAddress(v *visit, lb rest.Object) (rest.Object, error) {
	word, err := v.foldedWord("AddressType", "Internet", "Intranet")
	return lb.With(rest.Object{"AddressType": word}), err
}

func setNetZones(v *visit, lb rest.Object) (rest.Object, error) {
	zones, err := v.zonesOf()
	return lb.With(rest.Object{"ZoneMappings": zones}), err
}

// setIPv6 returns a change of the scope of the IPv6 address.
func setIPv6(word string) func(v *visit, lb rest.Object) (rest.Object, error) {
	return func(_ *visit, lb rest.Object) (rest.Object, error) {
		if lb.Text("AddressIpVersion") != "DualStack" {
			return nil, rest.Refuse(http.StatusBadRequest, "OperationDenied.LoadBalancerIpVersion", "The load balancer has no IPv6 address.")
		}
		return lb.With(rest.Object{"Ipv6AddressType": word}), nil
	}
}

func joinSecurity(v *visit, lb rest.Object) (rest.Object, error) {
	all := lb.Texts("SecurityGroupIds")
	for _, id := range v.members("SecurityGroupIds") {
		if _, ok := v.State.Get(securityGroups, id); !ok {
			return nil, refuseMissing("SecurityGroupId", id)
		}
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	if len(all) > mostSecurity {
		return nil, rest.Refuse(http.StatusBadRequest, "QuotaInsufficient", "At most %d security groups are possible.", mostSecurity)
	}
	return lb.With(rest.Object{"SecurityGroupIds": rest.Anys(all)}), nil
}

func leaveSecurity(v *visit, lb rest.Object) (rest.Object, error) {
	gone := v.members("SecurityGroupIds")
	all := slices.DeleteFunc(lb.Texts("SecurityGroupIds"), func(id string) bool { return slices.Contains(gone, id) })
	return lb.With(rest.Object{"SecurityGroupIds": rest.Anys(all)}), nil
}

func attachPackage(v *visit, lb rest.Object) (rest.Object, error) {
	if lb.Text("AddressType") != "Internet" {
		return nil, rest.Refuse(http.StatusBadRequest, "OperationDenied.AddressType", "The load balancer is not public.")
	}
	return lb.With(rest.Object{"BandwidthPackageId": v.text("BandwidthPackageId")}), nil
}

func detachPackage(_ *visit, lb rest.Object) (rest.Object, error) {
	return lb.With(rest.Object{"BandwidthPackageId": ""}), nil
}

// eachNet runs a call for each load balancer or server group that it names.
func (v *visit) eachNet(run func(collection string, o rest.Object)) error {
	collection := map[string]string{"loadbalancer": nets, "servergroup": serverGroups}[v.text("ResourceType")]
	for _, id := range v.members("ResourceId") {
		o, ok := v.State.Get(collection, id)
		if !ok {
			return refuseMissing("ResourceId", id)
		}
		run(collection, o)
	}
	return nil
}

// taggedNet runs a change of the tags of load balancers or server groups.
func taggedNet(change func(v *visit, o rest.Object) []any) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		err := v.eachNet(func(collection string, o rest.Object) {
			v.State.Put(collection, o.With(rest.Object{"Tags": change(v, o)}))
		})
		if err != nil {
			return nil, err
		}
		return answerDone(nil), nil
	}
}

// listNetTags answers the tags of load balancers or server groups.
func listNetTags(v *visit) (any, error) {
	items := []any{}
	err := v.eachNet(func(_ string, o rest.Object) {
		for _, t := range o.Objects("Tags") {
			items = append(items, rest.Object{"ResourceId": o.Text("id"), "ResourceType": v.text("ResourceType"), "TagKey": t.Text("Key"), "TagValue": t.Text("Value")})
		}
	})
	if err != nil {
		return nil, err
	}
	return answerDone(rest.Object{"TagResources": items, "TotalCount": len(items)}), nil
}

func addNetTags(v *visit, o rest.Object) []any { return v.givenTags(o) }

func removeNetTags(v *visit, o rest.Object) []any {
	keys := v.members("TagKey")
	left := []any{}
	for _, t := range o.Objects("Tags") {
		if !slices.Contains(keys, t.Text("Key")) {
			left = append(left, t)
		}
	}
	return left
}
