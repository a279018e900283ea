package wire

import (
	"cmp"
	"maps"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// networkRead holds the Network Load Balancers and target groups that one read shows, by ARN
// unless a field names another key.
type networkRead struct {
	*query
	// As listed.
	named        map[string]elbv2types.LoadBalancer  // by name
	ofStack      map[string]elbv2types.LoadBalancer  // of kind LBC, by their Service
	ofGroup      map[string]elbv2types.LoadBalancer  // of groups of Services, by the group, and of others, by name
	given        map[string]model.Given              // named by Services although of others, by name
	listed       listing                             // of the load balancers
	targetGroups []elbv2types.TargetGroup            // of found load balancers, and possible orphans
	attached     map[string][]elbv2types.TargetGroup // all, by load balancer
	planned      map[partOf]bool                     // details that are to be read
	// Details, under the lock of the batch.
	tags      map[string]model.Tags
	listeners map[string][]elbv2types.Listener  // by load balancer
	parts     map[partOf]stack.Spec             // of load balancers, listeners and target groups
	checking  map[string]bool                   // target groups of which no target is healthy, while first checks go on
	fronts    map[string]ec2types.SecurityGroup // by which clients come to load balancers of groups, by name
}

// listing is what was listed of the load balancers but Classic ones.
type listing struct {
	all    map[string]bool // ARNs; nil: not all were listed
	narrow bool            // only the requested ones were listed
}

func newNetworkRead(q *query) *networkRead {
	return &networkRead{
		query: q, named: map[string]elbv2types.LoadBalancer{}, ofStack: map[string]elbv2types.LoadBalancer{}, ofGroup: map[string]elbv2types.LoadBalancer{},
		attached: map[string][]elbv2types.TargetGroup{}, tags: map[string]model.Tags{}, listeners: map[string][]elbv2types.Listener{},
		planned: map[partOf]bool{}, parts: map[partOf]stack.Spec{}, checking: map[string]bool{},
	}
}

func arnOf(lb elbv2types.LoadBalancer) string { return awssdk.ToString(lb.LoadBalancerArn) }

// listNetwork finds the load balancers by name. Of several names one that is
// absent would fail the whole call, so then all of the account are listed.
func (r *networkRead) listNetwork() error {
	names := r.values(model.KindNetwork, model.ByName)
	stacks := slices.Concat(r.values(model.KindNetwork, model.ByStack), r.values(model.KindNetwork, model.ByMoved), r.factValues(model.KindSharedNetwork, model.ByName))
	if len(names)+len(stacks) == 0 {
		r.listed.narrow = true
		return nil
	}
	var all []elbv2types.LoadBalancer
	var one []string
	if len(names) == 1 && len(stacks) == 0 {
		one = names
	}
	err := r.eachBalancer(one, func(lb elbv2types.LoadBalancer) {
		if len(stacks) > 0 {
			all = append(all, lb)
		}
		if name := awssdk.ToString(lb.LoadBalancerName); containsSorted(names, name) && lb.Type == elbv2types.LoadBalancerTypeEnumNetwork {
			r.named[name] = lb
		}
	})
	if fault.Is(err, fault.NotFound) {
		err = nil
	}
	r.listed.narrow = err == nil && r.listed.all == nil
	return cmp.Or(err, r.findStacks(all))
}

// eachBalancer calls visit with the load balancers of some names, or else with all of the account but
// Classic ones, whose ARNs it notes.
func (r *networkRead) eachBalancer(names []string, visit func(elbv2types.LoadBalancer)) error {
	in := &elbv2.DescribeLoadBalancersInput{PageSize: awssdk.Int32(balancerPage)}
	if len(names) > 0 {
		in = &elbv2.DescribeLoadBalancersInput{Names: names}
	}
	listed := map[string]bool{}
	err := readPages(r.ctx, r.network.DescribeLoadBalancers, in, func(o *elbv2.DescribeLoadBalancersOutput) {
		for _, lb := range o.LoadBalancers {
			listed[arnOf(lb)] = true
			visit(lb)
		}
	})
	if err == nil && len(names) == 0 {
		r.listed.all = listed
	}
	return err
}

// networkJobs read listeners and attributes of each load balancer, and tags,
// twenty a call, of load balancers and of target groups that may be orphans.
func (r *networkRead) networkJobs() []kit.Detail {
	var jobs []kit.Detail
	var tagged []string
	for _, scope := range r.deep {
		for _, lb := range r.sharedBalancers(scope) {
			for _, t := range r.attached[lb] {
				tagged = append(tagged, awssdk.ToString(t.TargetGroupArn))
			}
		}
		tagged = append(tagged, r.mayBeForOthers(scope)...)
		for _, lb := range r.balancersOf(scope) {
			tagged = append(tagged, lb)
			if readsKind(scope, model.KindListener) {
				jobs = append(jobs, r.planOnce(partOf{model.KindListener, lb}, func() error { return r.readListeners(lb) })...)
			}
			if readsKind(scope, model.KindNetworkAttr) {
				jobs = append(jobs, r.planPart(partOf{model.KindNetworkAttr, lb}, func() (stack.Spec, error) { return r.readNetworkAttributes(lb) })...)
			}
		}
	}
	for _, t := range r.targetGroups {
		if len(t.LoadBalancerArns) == 0 {
			tagged = append(tagged, awssdk.ToString(t.TargetGroupArn))
		}
	}
	return append(jobs, tagDetails(eachOnce(tagged), r.readNetworkTags)...)
}

func (r *networkRead) readNetworkTags(arns []string) error {
	out, err := readCall(r.ctx, r.network.DescribeTags, &elbv2.DescribeTagsInput{ResourceArns: arns})
	if fault.Is(err, fault.NotFound) && len(arns) > 1 {
		return kit.OneByOne(arns, r.readNetworkTags)
	}
	if err != nil {
		return err
	}
	r.Keep(func() {
		for _, d := range out.TagDescriptions {
			r.tags[awssdk.ToString(d.ResourceArn)] = readTags(d.Tags, func(t elbv2types.Tag) (key, value *string) { return t.Key, t.Value })
		}
	})
	return nil
}

func (r *networkRead) readListeners(lb string) error {
	var all []elbv2types.Listener
	in := &elbv2.DescribeListenersInput{LoadBalancerArn: &lb, PageSize: awssdk.Int32(balancerPage)}
	err := readPages(r.ctx, r.network.DescribeListeners, in, func(o *elbv2.DescribeListenersOutput) {
		all = append(all, o.Listeners...)
	})
	slices.SortFunc(all, func(a, b elbv2types.Listener) int {
		return cmp.Or(cmp.Compare(awssdk.ToInt32(a.Port), awssdk.ToInt32(b.Port)), cmp.Compare(a.Protocol, b.Protocol))
	})
	r.Keep(func() { r.listeners[lb] = all })
	return err
}

func (r *networkRead) readNetworkAttributes(lb string) (stack.Spec, error) {
	out, err := readCall(r.ctx, r.network.DescribeLoadBalancerAttributes, &elbv2.DescribeLoadBalancerAttributesInput{LoadBalancerArn: &lb})
	if err != nil {
		return nil, err
	}
	return model.AttributesOfNetwork(readTags(out.Attributes, func(a elbv2types.LoadBalancerAttribute) (key, value *string) { return a.Key, a.Value })), nil
}

// networkStack is the Network Load Balancer of the view with all its parts, and
// the Service's target groups.
func (r *networkRead) networkStack(v *view) []stack.Resource {
	arn := arnOf(v.balancer)
	if arn == "" || r.Gone(arn) {
		return r.targetStack(v, r.inGroups(v, nil))
	}
	v.seen = append(v.seen, arn)
	res := stack.Resource{
		Key: stack.Key{Kind: model.KindNetwork}, ID: arn,
		Proof: r.proofOf(v.scope.Owner, r.tags[arn]), State: stateOf(v.balancer), Spec: r.networkOf(v, v.balancer),
	}
	if !v.deep || res.Proof == stack.None {
		return []stack.Resource{res}
	}
	out := append([]stack.Resource{res}, r.partsOf(res, stack.Derived)...)
	places := r.places(v, arn, "")
	for _, l := range r.listeners[arn] {
		listener := r.listenerOf(l, places, v.forOwnPods)
		v.seen = append(v.seen, listener.ID)
		out = append(append(out, listener), r.partsOf(listener, stack.Derived)...)
	}
	return append(out, r.targetStack(v, r.inGroups(v, places))...)
}

func stateOf(lb elbv2types.LoadBalancer) stack.State {
	if lb.State == nil {
		return stack.Ready
	}
	switch lb.State.Code {
	case elbv2types.LoadBalancerStateEnumProvisioning:
		return stack.Pending
	case elbv2types.LoadBalancerStateEnumFailed:
		return stack.Failed
	default: // active_impaired serves traffic
		return stack.Ready
	}
}

func (r *networkRead) networkOf(v *view, lb elbv2types.LoadBalancer) model.Network {
	out := model.Network{
		Name: awssdk.ToString(lb.LoadBalancerName), Scheme: string(lb.Scheme), Groups: v.refs(lb.SecurityGroups),
		Tags: r.tags[arnOf(lb)], DNSName: awssdk.ToString(lb.DNSName),
		AddressType: addressTypeOf(lb), SourceNAT: sourceNATOf(lb), PrivateLink: awssdk.ToString(lb.EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic),
	}
	if len(out.Groups) > 0 {
		out.PrivateLink = cmp.Or(out.PrivateLink, privateLinkDefault)
	}
	out.Mappings = mappingsOf(lb.AvailabilityZones)
	return out
}

// privateLinkDefault is what AWS gives to a load balancer with security groups.
const privateLinkDefault = "on"

// addressTypeOf returns the default of AWS if the answer has no address type: none of its members
// is required.
func addressTypeOf(lb elbv2types.LoadBalancer) string {
	return cmp.Or(string(lb.IpAddressType), model.AddressIPv4)
}

// sourceNATOf does so for the IPv6 prefixes to send from. Regions without them do not show it.
func sourceNATOf(lb elbv2types.LoadBalancer) string {
	return cmp.Or(string(lb.EnablePrefixForIpv6SourceNat), string(elbv2types.EnablePrefixForIpv6SourceNatEnumOff))
}

func mappingsOf(zones []elbv2types.AvailabilityZone) []model.Mapping {
	var out []model.Mapping
	for _, z := range zones {
		m := model.Mapping{Subnet: awssdk.ToString(z.SubnetId)}
		for _, a := range z.LoadBalancerAddresses {
			m.Allocation = cmp.Or(m.Allocation, awssdk.ToString(a.AllocationId))
			m.PrivateIP = cmp.Or(m.PrivateIP, awssdk.ToString(a.PrivateIPv4Address))
			m.IPv6 = cmp.Or(m.IPv6, awssdk.ToString(a.IPv6Address))
		}
		if len(z.SourceNatIpv6Prefixes) > 0 {
			m.SourceNAT = z.SourceNatIpv6Prefixes[0]
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b model.Mapping) int { return cmp.Compare(a.Subnet, b.Subnet) })
	return out
}

// places are the key names of target groups on a load balancer, which may be that of a group, by
// ARN: that of the listener which sends to it, the lowest port first.
func (r *networkRead) places(v *view, lb, group string) map[string]string {
	out := map[string]string{}
	for _, l := range r.listeners[lb] {
		name := model.PartOf(group, listenerName(l))
		arn := targetOf(l, v.forOwnPods)
		if _, taken := out[arn]; !taken && (group == "" && arn != "" || slices.Contains(v.forOwnPods, arn)) {
			out[arn] = name
		}
		if old := leftBy(l, v.forOwnPods); old != "" && out[old] == "" {
			out[old] = model.LeavingMark + name
		}
	}
	maps.Copy(out, r.otherPlaces(v, lb, group))
	return out
}

// forwardedTo are the target groups that a listener forwards to, each once; none for
// listeners with other actions, which Berth does not create.
func forwardedTo(l elbv2types.Listener) []elbv2types.TargetGroupTuple {
	for _, a := range l.DefaultActions {
		if a.ForwardConfig != nil && len(a.ForwardConfig.TargetGroups) > 0 {
			return a.ForwardConfig.TargetGroups
		}
		if awssdk.ToString(a.TargetGroupArn) != "" {
			return []elbv2types.TargetGroupTuple{{TargetGroupArn: a.TargetGroupArn}}
		}
	}
	return nil
}

// targetOf is the target group of the Service that a listener forwards to, else the first
// one; empty if there is none. Of two it is the one that gets nothing yet.
func targetOf(l elbv2types.Listener, own []string) string {
	if mine := ownOfListener(l, own); len(mine) > 0 {
		return awssdk.ToString(mine[0].TargetGroupArn)
	}
	groups := forwardedTo(l)
	if len(groups) == 0 {
		return ""
	}
	return awssdk.ToString(groups[0].TargetGroupArn)
}

// leftBy is the target group of the Service that a listener is about to leave for another
// one of the Service; empty if it has one at most.
func leftBy(l elbv2types.Listener, own []string) string {
	mine := ownOfListener(l, own)
	if len(mine) < 2 {
		return ""
	}
	return awssdk.ToString(mine[len(mine)-1].TargetGroupArn)
}

// ownOfListener are the target groups of the Service that a listener forwards to, those with
// less traffic first.
func ownOfListener(l elbv2types.Listener, own []string) []elbv2types.TargetGroupTuple {
	mine := slices.DeleteFunc(slices.Clone(forwardedTo(l)), func(g elbv2types.TargetGroupTuple) bool {
		return !slices.Contains(own, awssdk.ToString(g.TargetGroupArn))
	})
	slices.SortStableFunc(mine, func(a, b elbv2types.TargetGroupTuple) int {
		return cmp.Compare(awssdk.ToInt32(a.Weight), awssdk.ToInt32(b.Weight))
	})
	return mine
}

// withShares adds to a listener the shares of its groups, if it has several.
func withShares(l model.Listener, found elbv2types.Listener, own string, places map[string]string) model.Listener {
	groups := forwardedTo(found)
	if len(groups) < 2 {
		return l
	}
	for _, g := range groups {
		weight := int32(model.DefaultWeight)
		if g.Weight != nil {
			weight = *g.Weight
		}
		w := model.Weighted{Group: awssdk.ToString(g.TargetGroupArn), Weight: weight}
		if name := places[w.Group]; model.IsOther(name) {
			w.Group, w.Of = "", stack.RefTo(stack.Key{Kind: model.KindTargetGroup, Name: name})
		} else if w.Group == own {
			w.Group = ""
		}
		l.Shares = append(l.Shares, w)
	}
	slices.SortFunc(l.Shares, model.CompareWeighted)
	for _, a := range found.DefaultActions {
		if a.ForwardConfig != nil && a.ForwardConfig.TargetGroupStickinessConfig != nil {
			l.Sticks = model.Stickiness(awssdk.ToBool(a.ForwardConfig.TargetGroupStickinessConfig.Enabled))
		}
	}
	return l
}

// listenerName is the key name of a listener: TLS and TCP_UDP are states of the
// TCP listener of that port.
func listenerName(l elbv2types.Listener) string {
	if l.Protocol == elbv2types.ProtocolEnumUdp {
		return model.PortKey("udp", awssdk.ToInt32(l.Port))
	}
	return model.PortKey("tcp", awssdk.ToInt32(l.Port))
}

func (r *networkRead) listenerOf(l elbv2types.Listener, places map[string]string, own []string) stack.Resource {
	spec := model.Listener{
		Port: awssdk.ToInt32(l.Port), Protocol: string(l.Protocol), SSLPolicy: awssdk.ToString(l.SslPolicy),
		Tags: r.tags[awssdk.ToString(l.ListenerArn)].Shown(),
	}
	if len(l.AlpnPolicy) > 0 {
		spec.ALPN = l.AlpnPolicy[0]
	}
	if len(l.Certificates) > 0 {
		spec.Certificate = awssdk.ToString(l.Certificates[0].CertificateArn)
	}
	if arn := targetOf(l, own); arn != "" {
		spec = withShares(spec, l, arn, places)
		spec.TargetGroup = stack.RefID(arn)
		if name, ok := places[arn]; ok {
			spec.TargetGroup = stack.RefTo(stack.Key{Kind: model.KindTargetGroup, Name: name})
		}
	}
	return stack.Resource{
		Key: stack.Key{Kind: model.KindListener, Name: listenerName(l)}, ID: awssdk.ToString(l.ListenerArn),
		In: stack.Key{Kind: model.KindNetwork}, Slot: model.PortSlot(spec.Port), Proof: stack.Derived, Spec: spec,
	}
}
