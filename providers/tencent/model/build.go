package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// builder assembles the desired stack of one Service.
type builder struct {
	in       Input
	have     *stack.Stack
	out      *stack.Stack
	problems annotations.Problems
	lb       stack.Key // the load balancer of the listeners
	existing bool      // it is not the Service's own
	version  string    // of its addresses
	crosses  bool      // it is in another network or region than the nodes
	// segments are the settings of single listeners by a TkeServiceConfig, and bandwidth is its bandwidth.
	segments  map[string]*segment
	bandwidth int
}

// Build returns the desired stack of a Service. With a problem that is an error there is no stack, and
// the last good one stays.
func Build(in Input, _ *Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	b := &builder{in: in, have: have, out: &stack.Stack{Owner: in.Owner}, lb: OwnKey()}
	if beyond := providers.Exceeds(Capabilities(), Reach(in)); len(beyond) > 0 {
		return nil, beyond, nil
	}
	b.check()
	if !b.problems.Errors() {
		b.readConfig()
		b.balancer()
	}
	if !b.problems.Errors() {
		b.ports()
		b.claim()
	}
	if b.problems.Errors() {
		return nil, b.problems, nil
	}
	return b.out, b.problems, nil
}

// check judges what does not follow from one annotation.
func (b *builder) check() {
	can, _ := providers.CapabilityOf(Capabilities(), CLB)
	can.NodePorts = !directKey.Get(b.in.Values)
	b.problems = append(b.problems, can.Judge(b.in.Service, b.in.Backends)...)
	for _, l := range laterTable() {
		if value := b.in.Service.Annotations[l.name]; value != "" {
			b.problems.Refuse(l.name, value, "is not served yet: "+l.reason, "no such annotation")
		}
	}
	b.checkSource()
	b.checkRanges()
}

// isCrossing reports whether a load balancer is in another network or region than the nodes. Targets are bound by
// their addresses then. Source: https://cloud.tencent.com/document/product/457/59094.
func isCrossing(c Config, b Balancer) bool {
	return b.Region != "" || c.VPC != "" && b.VPC != "" && b.VPC != c.VPC
}

// checkRanges judges ranges of clients, which a load balancer of this cloud does not know.
func (b *builder) checkRanges() {
	ranges, source, err := nodeports.SourceRanges(b.in.Service)
	const effect = "cannot be applied: the load balancer accepts all clients that its security groups admit"
	legal := "no ranges, and " + groupsKey.Name
	switch {
	case err != nil:
		b.problems.Refuse(string(source), "", strings.TrimPrefix(err.Error(), string(source)+": "), "no ranges")
	case source == nodeports.RangesFromDefault || len(ranges) == 0:
	case len(b.have.Of(KindListener)) > 0:
		b.problems.Warn(string(source), "", effect, legal)
	default:
		b.problems.Refuse(string(source), "", effect, legal)
	}
}

// found returns the found load balancer of the Service's own.
func (b *builder) found() (Balancer, stack.Resource, bool) {
	r, ok := b.have.Get(OwnKey())
	spec, is := r.Spec.(Balancer)
	return spec, r, ok && is
}

// immutable is the message about a setting that a live load balancer cannot take over.
const immutable = "cannot change on a live load balancer; change the type of the Service to ClusterIP and back, which deletes the load balancer, or create a second Service"

// balancer adds the load balancer: an existing one, or the Service's own.
func (b *builder) balancer() {
	spec, r, ok := b.found()
	live := ok && r.Proof != stack.None
	id := existedKey.Get(b.in.Values)
	if id != "" {
		id = IDIn(regionOf(b.in), id)
	}
	if id != "" && (!live || id != r.ID) {
		b.useExisting(id, r, live)
		return
	}
	switch {
	case live && r.Ownership == stack.External:
		b.problems.Warn("tags", r.ID, "has lost the tag "+TagCreated+", so the load balancer stays when the Service is deleted", TagCreated+": "+createdByUs)
		b.out.Put(stack.Resource{Key: OwnKey(), ID: r.ID, Ownership: stack.External, Spec: spec})
	case live:
		b.keepLive(spec)
	case b.refuseLeft():
	default:
		if ok {
			b.problems.Warn("load balancer", r.ID, fmt.Sprintf("has some marks of the Service and is not proven to be its own: its tags are %s", tagsText(spec.Tags)),
				"the tags "+TagCreated+", "+TagCluster+" and "+TagService+", or "+existedKey.Name+": "+r.ID)
		}
		b.create()
	}
	if !live {
		want, _ := b.out.Get(OwnKey())
		spec, _ = want.Spec.(Balancer)
	}
	b.version, b.crosses = spec.IPVersion, isCrossing(b.in.Config, spec)
}

// refuseLeft refuses a Service that has lost the annotation of the existing load balancer on which it
// still has listeners.
func (b *builder) refuseLeft() bool {
	for _, r := range b.have.Of(KindBalancer) {
		if r.Ownership == stack.External {
			b.problems.Refuse(existedKey.Name, "", "is missing, and the Service has listeners on the load balancer "+r.ID+"; change the type of the Service to ClusterIP first, which deletes them", r.ID)
			return true
		}
	}
	return false
}

// tagsText returns tags as a text.
func tagsText(tags map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, key+"="+tags[key])
	}
	return cmp.Or(strings.Join(out, ", "), "none")
}

// useExisting has the listeners on a load balancer that is not the Service's own.
// Source: https://cloud.tencent.com/document/product/457/45491.
func (b *builder) useExisting(id string, own stack.Resource, live bool) {
	v := b.in.Values
	spec, ok := stack.SpecOf[Balancer](b.have, ExistingKey(id))
	mark := MarkOf(spec.Tags, b.in.Config.ClusterID, b.in.Owner.UID)
	for _, other := range b.have.Of(KindBalancer) {
		if other.Ownership == stack.External && other.ID != id && !live {
			b.problems = append(b.problems, existedKey.Refusal(v, "cannot change while the Service has listeners on "+other.ID+"; change the type of the Service to ClusterIP first, which deletes them", other.ID))
			return
		}
	}
	switch {
	case live:
		b.problems = append(b.problems, existedKey.Refusal(v, immutable, own.ID+", which is the Service's own"))
		return
	case !ok:
		b.problems = append(b.problems, existedKey.Refusal(v, strings.TrimSuffix("is not found in the region "+regionOf(b.in), " ")+", or not visible with these credentials", "the id of an existing load balancer"))
		return
	case mark == Foreign && spec.Tags[TagCluster] != b.in.Config.ClusterID && spec.Tags[TagCluster] != "":
		b.problems = append(b.problems, existedKey.Refusal(v, "is used by the cluster "+spec.Tags[TagCluster], "a load balancer without the tag "+TagCluster+" of another cluster"))
		return
	case mark == Foreign:
		b.problems = append(b.problems, existedKey.Refusal(v, "was created for "+cmp.Or(b.in.ServiceOf(spec.Tags[TagService]), "another Service")+": its tags are "+tagsText(spec.Tags), "a load balancer that you created"))
		return
	case spec.VPC != "" && spec.VPC != crossKey.Or(v, b.networkOr(spec.VPC)):
		b.problems = append(b.problems, existedKey.Refusal(v, "is in the network "+spec.VPC, "a load balancer of the network of the cluster, or "+crossKey.Name+": "+spec.VPC))
		return
	}
	b.warnUnused(groupsKey.Name, passKey.Name, subnetKey.Name, extensiveKey.Name, snatKey.Name)
	if b.bandwidth > 0 {
		b.warnConfig("has internetMaxBandwidthOut, which has no effect on an existing load balancer")
	}
	b.lb, b.existing, b.version, b.crosses = ExistingKey(id), true, spec.IPVersion, isCrossing(b.in.Config, spec)
	b.out.Put(stack.Resource{Key: b.lb, ID: id, Ownership: stack.External, Spec: spec})
}

// networkOr returns the network of the cluster. It is in no other region, where every network is as good.
func (b *builder) networkOr(otherwise string) string {
	if regionOf(b.in) != "" {
		return otherwise
	}
	return cmp.Or(b.in.Config.VPC, otherwise)
}

// warnUnused reports keys that have no effect on an existing load balancer.
func (b *builder) warnUnused(keys ...string) {
	for _, o := range b.in.Values.Origins() {
		if slices.Contains(keys, o.Key) {
			b.problems.Warn(o.Key, o.Raw, "has no effect on an existing load balancer, which is not changed", "no such annotation beside "+existedKey.Name)
		}
	}
}

// asked returns the load balancer as the annotations ask for it.
func (b *builder) asked() Balancer {
	v, c := b.in.Values, b.in.Config
	extra := maps.Clone(extensiveKey.Get(v).Values)
	take := func(name string) string {
		text, _ := extra[name].(string)
		delete(extra, name)
		return text
	}
	network, _ := extra["InternetAccessible"].(map[string]any)
	delete(extra, "InternetAccessible")
	charge, _ := network["InternetChargeType"].(string)
	bandwidth, _ := network["InternetMaxBandwidthOut"].(float64)
	want := Balancer{
		Name: nameKey.Or(v, DefaultName(c.ClusterID, b.in.Owner)), Type: Open, Region: regionOf(b.in), VPC: crossKey.Or(v, b.networkOr("")), IPVersion: cmp.Or(take("AddressIPVersion"), ipv4),
		Subnet: cmp.Or(subnetOf(b.in), take("SubnetId")), Groups: groupsKey.Get(v), Tags: b.tags(extra["Tags"]),
	}
	want.Unrecorded = want.Region != "" && b.in.Service.Annotations[outRegion] != want.Region
	delete(extra, "Tags")
	if name := take("LoadBalancerName"); name != "" {
		want.Name = name
	}
	if isInternal(b.in) {
		want.Type = Internal
	} else {
		want.ChargeType, want.Bandwidth = chargeKey.Or(v, charge), cmp.Or(b.bandwidth, bandwidthKey.Or(v, int(bandwidth)))
	}
	if pass, _, given := passKey.Lookup(v); given {
		want.PassToTarget = strconv.FormatBool(pass)
	} else if pass, given := extra["LoadBalancerPassToTarget"].(bool); given {
		want.PassToTarget = strconv.FormatBool(pass)
	}
	delete(extra, "LoadBalancerPassToTarget")
	if snat, _, given := snatKey.Lookup(v); given {
		if extra == nil {
			extra = map[string]any{}
		}
		extra["SnatPro"], extra["SnatIps"] = true, snatDocs(snat)
	}
	if isCrossing(c, want) {
		if extra == nil {
			extra = map[string]any{}
		}
		extra["SnatPro"] = true
	}
	if len(extra) > 0 {
		text, _ := json.Marshal(extra) // was decoded from JSON
		want.Extra = string(text)
	}
	return want
}

func snatDocs(s Snat) []any {
	var out []any
	for _, a := range s.Addresses {
		one := map[string]any{"SubnetId": a.Subnet}
		if a.Address != "" {
			one["Ip"] = a.Address
		}
		out = append(out, one)
	}
	return out
}

// tags returns the tags of a new load balancer: those of the user, and the marks of the owner.
func (b *builder) tags(given any) map[string]string {
	out := map[string]string{}
	list, _ := given.([]any)
	for _, one := range list {
		pair, _ := one.(map[string]any)
		key, _ := pair["TagKey"].(string)
		value, _ := pair["TagValue"].(string)
		if key == "" {
			b.problems = append(b.problems, extensiveKey.Refusal(b.in.Values, "has a tag without a TagKey", `Tags with "TagKey" and "TagValue"`))
			continue
		}
		out[key] = value
	}
	out[TagCreated], out[TagCluster], out[TagService] = createdByUs, b.in.Config.ClusterID, b.in.Owner.UID
	if len(out) > mostTags {
		b.problems = append(b.problems, extensiveKey.Refusal(b.in.Values, fmt.Sprintf("makes %d tags with the three of the controller", len(out)), fmt.Sprintf("at most %d tags", mostTags-3)))
	}
	return out
}

// create adds a new load balancer.
func (b *builder) create() {
	want := b.asked()
	switch {
	case want.VPC == "" && want.Region != "":
		b.problems = append(b.problems, regionsKey.Refusal(b.in.Values, "has no network for a new load balancer: that of the cluster is in the region "+b.in.Config.Region, crossKey.Name+" with a network of the region, or "+existedKey.Name))
	case want.VPC == "":
		b.problems.Refuse("cloud config", "vpc_id", "is empty, so a load balancer would be in the default network of the account", "the id of the network of the cluster")
	case want.IPVersion != ipv4 && want.IPVersion != nat64 && want.IPVersion != fullChain:
		b.problems = append(b.problems, extensiveKey.Refusal(b.in.Values, "has the AddressIPVersion "+want.IPVersion, strings.Join([]string{ipv4, nat64, fullChain}, ", ")))
	case want.IPVersion == fullChain && want.Subnet == "":
		b.problems = append(b.problems, extensiveKey.Refusal(b.in.Values, "has "+fullChain+" without a subnet", `"SubnetId" beside it`))
	case want.IPVersion != fullChain && want.Type == Open && want.Subnet != "":
		b.problems = append(b.problems, extensiveKey.Refusal(b.in.Values, "has a SubnetId, and a public load balancer of "+want.IPVersion+" has none", subnetKey.Name+" for an internal one"))
	}
	b.out.Put(stack.Resource{Key: OwnKey(), Spec: want})
}

// keepLive refuses changes that a live load balancer cannot take over, and keeps what counts at
// creation only.
func (b *builder) keepLive(found Balancer) {
	want, v := b.asked(), b.in.Values
	switch {
	case want.Type != found.Type:
		b.problems = append(b.problems, subnetKey.Refusal(v, immutable, cmp.Or(found.Subnet, "no such annotation: the load balancer is public")))
	case want.Type == Internal && want.Subnet != found.Subnet && found.Subnet != "":
		b.problems = append(b.problems, subnetKey.Refusal(v, immutable, found.Subnet))
	case want.Region != found.Region:
		b.problems = append(b.problems, regionsKey.Refusal(v, immutable, cmp.Or(found.Region, b.in.Config.Region)))
	case want.VPC != found.VPC && want.VPC != "" && found.VPC != "":
		b.problems = append(b.problems, crossKey.Refusal(v, immutable, found.VPC))
	}
	if want.Bandwidth, want.Extra = b.bandwidth, ""; want.Type == Internal {
		want.Bandwidth = 0
	}
	b.out.Put(stack.Resource{Key: OwnKey(), Spec: want})
}

// claim notes the listeners that the Service has on an existing load balancer.
func (b *builder) claim() {
	if !b.existing {
		return
	}
	var ids []string
	lb, _ := b.out.Get(b.lb)
	matched := MatchFound(b.out, b.have)
	for _, r := range matched.Of(KindListener) {
		if _, wanted := b.out.Get(r.Key); wanted && r.Proof != stack.None {
			ids = append(ids, r.ID)
		}
	}
	slices.Sort(ids)
	b.out.Put(stack.Resource{Key: ClaimKey(), Spec: Claim{Balancer: lb.ID, Listeners: ids}})
	b.reportTaken(matched)
}

// reportTaken names the listeners of others that have ports of the Service.
func (b *builder) reportTaken(matched *stack.Stack) {
	for r, spec := range stack.Each[Listener](matched, KindListener) {
		for _, w := range b.out.Of(KindListener) {
			if r.Proof == stack.None && r.In == w.In && r.Slot == w.Slot && !(spec.Early && spec.Name == ListenerName) {
				owner := "not the Service's"
				if other := b.in.ServiceOf(spec.User); other != "" {
					owner = "of " + other
				}
				b.problems.Warn("spec.ports", w.Slot, fmt.Sprintf("is taken by the listener %s with the name %q of the load balancer, which is %s and is left alone", r.ID, spec.Name, owner), "a port without a listener")
			}
		}
	}
}
