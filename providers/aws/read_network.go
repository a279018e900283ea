package aws

import (
	"cmp"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

func arnOf(lb elbv2types.LoadBalancer) string { return awssdk.ToString(lb.LoadBalancerArn) }

// listNetwork finds the load balancers by name. Of several names one that is
// absent would fail the whole call, so then all of the account are listed.
func (r *read) listNetwork() error {
	r.networkLBs = map[string]elbv2types.LoadBalancer{}
	names := r.values(KindNetwork, byName)
	if len(names) == 0 {
		return nil
	}
	in := &elbv2.DescribeLoadBalancersInput{PageSize: awssdk.Int32(balancerPage)}
	if len(names) == 1 {
		in = &elbv2.DescribeLoadBalancersInput{Names: names}
	}
	err := pages(r.ctx, r.network.DescribeLoadBalancers, in, func(o *elbv2.DescribeLoadBalancersOutput) bool {
		for _, lb := range o.LoadBalancers {
			if name := awssdk.ToString(lb.LoadBalancerName); contains(names, name) && lb.Type == elbv2types.LoadBalancerTypeEnumNetwork {
				r.networkLBs[name] = lb
			}
		}
		in.Marker = o.NextMarker
		return awssdk.ToString(o.NextMarker) != ""
	})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// networkJobs read listeners and attributes of each load balancer, and tags,
// twenty a call, of load balancers and of target groups that may be orphans.
func (r *read) networkJobs() []job {
	var jobs []job
	var tagged []string
	for _, name := range sortedKeys(r.networkLBs) {
		if !r.deep(KindNetwork, byName, name) {
			continue
		}
		lb := arnOf(r.networkLBs[name])
		tagged = append(tagged, lb)
		jobs = append(jobs,
			job{of: []string{lb}, run: func() error { return r.readListeners(lb) }},
			job{of: []string{lb}, run: func() error { return r.readNetworkAttributes(lb) }},
		)
	}
	for _, t := range r.targetGroups {
		if len(t.LoadBalancerArns) == 0 {
			tagged = append(tagged, awssdk.ToString(t.TargetGroupArn))
		}
	}
	for chunk := range slices.Chunk(tagged, tagsPerCall) {
		jobs = append(jobs, job{of: chunk, run: func() error { return r.readNetworkTags(chunk) }})
	}
	return jobs
}

func (r *read) readNetworkTags(arns []string) error {
	out, err := ask(r.ctx, r.network.DescribeTags, &elbv2.DescribeTagsInput{ResourceArns: arns})
	if fault.Is(err, fault.NotFound) && len(arns) > 1 {
		// One of them has just gone; the others are asked for one by one.
		for _, arn := range arns {
			if err := r.readNetworkTags([]string{arn}); err != nil && !fault.Is(err, fault.NotFound) {
				return err
			}
		}
		return nil
	}
	if err != nil {
		return err
	}
	r.keep(func() {
		for _, d := range out.TagDescriptions {
			r.tags[awssdk.ToString(d.ResourceArn)] = tagsOfNetwork(d.Tags)
		}
	})
	return nil
}

func (r *read) readListeners(lb string) error {
	var all []elbv2types.Listener
	in := &elbv2.DescribeListenersInput{LoadBalancerArn: &lb, PageSize: awssdk.Int32(balancerPage)}
	err := pages(r.ctx, r.network.DescribeListeners, in, func(o *elbv2.DescribeListenersOutput) bool {
		all = append(all, o.Listeners...)
		in.Marker = o.NextMarker
		return awssdk.ToString(o.NextMarker) != ""
	})
	slices.SortFunc(all, func(a, b elbv2types.Listener) int {
		return cmp.Or(cmp.Compare(awssdk.ToInt32(a.Port), awssdk.ToInt32(b.Port)), cmp.Compare(a.Protocol, b.Protocol))
	})
	r.keep(func() { r.listeners[lb] = all })
	return err
}

func (r *read) readNetworkAttributes(lb string) error {
	out, err := ask(r.ctx, r.network.DescribeLoadBalancerAttributes, &elbv2.DescribeLoadBalancerAttributesInput{LoadBalancerArn: &lb})
	if err != nil {
		return err
	}
	values := Tags{}
	for _, a := range out.Attributes {
		values[awssdk.ToString(a.Key)] = awssdk.ToString(a.Value)
	}
	r.keep(func() { r.attributes[lb] = values })
	return nil
}

// networkStack is the Network Load Balancer of the view with all its parts, and
// the Service's target groups.
func (r *read) networkStack(v *view) []stack.Resource {
	lb, ok := r.networkLBs[v.network]
	arn := arnOf(lb)
	if !ok || r.gone[arn] {
		return r.targetStack(v, nil)
	}
	v.seen = append(v.seen, arn)
	res := stack.Resource{
		Key: stack.Key{Kind: KindNetwork}, ID: arn,
		Proof: r.proofOf(v.scope.Owner, r.tags[arn]), State: stateOf(lb), Spec: r.networkOf(v, lb),
	}
	if !v.deep || res.Proof == stack.None {
		return []stack.Resource{res}
	}
	out := []stack.Resource{res}
	if values, ok := r.attributes[arn]; ok {
		out = append(out, stack.Resource{
			Key: stack.Key{Kind: KindNetworkAttr}, ID: arn, In: res.Key, Proof: stack.Derived, Spec: Attributes{Values: values},
		})
	}
	places := r.places(arn)
	for _, l := range r.listeners[arn] {
		out = append(out, listenerOf(l, places))
	}
	return append(out, r.targetStack(v, places)...)
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

func (r *read) networkOf(v *view, lb elbv2types.LoadBalancer) Network {
	out := Network{
		Name: v.network, Scheme: string(lb.Scheme), Groups: v.refs(lb.SecurityGroups),
		Tags: r.tags[arnOf(lb)], DNSName: awssdk.ToString(lb.DNSName),
	}
	for _, z := range lb.AvailabilityZones {
		m := Mapping{Subnet: awssdk.ToString(z.SubnetId)}
		for _, a := range z.LoadBalancerAddresses {
			m.Allocation = cmp.Or(m.Allocation, awssdk.ToString(a.AllocationId))
			m.PrivateIP = cmp.Or(m.PrivateIP, awssdk.ToString(a.PrivateIPv4Address))
		}
		out.Mappings = append(out.Mappings, m)
	}
	slices.SortFunc(out.Mappings, func(a, b Mapping) int { return cmp.Compare(a.Subnet, b.Subnet) })
	return out
}

// places are the key names of target groups by ARN: that of the listener which
// sends to it, the lowest port first.
func (r *read) places(lb string) map[string]string {
	out := map[string]string{}
	for _, l := range r.listeners[lb] {
		arn := targetOf(l)
		if _, taken := out[arn]; arn != "" && !taken {
			out[arn] = listenerName(l)
		}
	}
	return out
}

// targetOf is the one target group that a listener forwards to; empty for
// listeners that do something else, which nobody makes here.
func targetOf(l elbv2types.Listener) string {
	for _, a := range l.DefaultActions {
		if arn := awssdk.ToString(a.TargetGroupArn); arn != "" {
			return arn
		}
		if a.ForwardConfig != nil && len(a.ForwardConfig.TargetGroups) > 0 {
			return awssdk.ToString(a.ForwardConfig.TargetGroups[0].TargetGroupArn)
		}
	}
	return ""
}

// listenerName is the key name of a listener: TLS and TCP_UDP are states of the
// TCP listener of that port.
func listenerName(l elbv2types.Listener) string {
	if l.Protocol == elbv2types.ProtocolEnumUdp {
		return portKey("udp", awssdk.ToInt32(l.Port))
	}
	return portKey("tcp", awssdk.ToInt32(l.Port))
}

func listenerOf(l elbv2types.Listener, places map[string]string) stack.Resource {
	spec := Listener{Port: awssdk.ToInt32(l.Port), Protocol: string(l.Protocol), SSLPolicy: awssdk.ToString(l.SslPolicy)}
	if len(l.Certificates) > 0 {
		spec.Certificate = awssdk.ToString(l.Certificates[0].CertificateArn)
	}
	if arn := targetOf(l); arn != "" {
		spec.TargetGroup = stack.RefID(arn)
		if name, ok := places[arn]; ok {
			spec.TargetGroup = stack.RefTo(stack.Key{Kind: KindTargetGroup, Name: name})
		}
	}
	return stack.Resource{
		Key: stack.Key{Kind: KindListener, Name: listenerName(l)}, ID: awssdk.ToString(l.ListenerArn),
		In: stack.Key{Kind: KindNetwork}, Slot: portSlot(spec.Port), Proof: stack.Derived, Spec: spec,
	}
}
