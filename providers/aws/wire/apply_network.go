package wire

import (
	"cmp"
	"maps"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

func createNetwork(c *change, spec model.Network) plan.Outcome {
	in := &elbv2.CreateLoadBalancerInput{
		Name: &spec.Name, Type: elbv2types.LoadBalancerTypeEnumNetwork,
		SecurityGroups: c.IDs(spec.Groups), Tags: tagList(spec.Tags, networkTag),
	}
	if spec.Scheme == model.SchemeInternal {
		in.Scheme = elbv2types.LoadBalancerSchemeEnumInternal
	}
	if _, controlled := spec.Tags[model.TagLBCCluster]; controlled && spec.Scheme != model.SchemeInternal {
		in.Scheme = elbv2types.LoadBalancerSchemeEnumInternetFacing
	}
	in.SubnetMappings, in.IpAddressType = wireMappings(spec.Mappings), elbv2types.IpAddressType(spec.AddressType)
	in.EnablePrefixForIpv6SourceNat = elbv2types.EnablePrefixForIpv6SourceNatEnum(spec.SourceNAT)
	out, err := writeCall(c.Ctx, c.Session.network.CreateLoadBalancer, in, onceNetwork)
	if err == nil && len(out.LoadBalancers) == 0 {
		err = noAnswer("CreateLoadBalancer")
	}
	if err != nil {
		return kit.Failed(notYet(err, refersToOwn(spec.Groups)))
	}
	lb := out.LoadBalancers[0]
	spec.DNSName = awssdk.ToString(lb.DNSName)
	spec.AddressType, spec.SourceNAT = addressTypeOf(lb), sourceNATOf(lb)
	if len(spec.Groups) > 0 {
		spec.PrivateLink = privateLinkDefault // a call of its own changes it
	}
	o := c.Created(arnOf(lb), stack.Name, spec)
	o.After.State = stateOf(lb)
	return o
}

func wireMappings(list []model.Mapping) []elbv2types.SubnetMapping {
	out := make([]elbv2types.SubnetMapping, 0, len(list))
	for _, m := range list {
		out = append(out, elbv2types.SubnetMapping{
			SubnetId: awssdk.String(m.Subnet), AllocationId: optionalText(m.Allocation), PrivateIPv4Address: optionalText(m.PrivateIP),
			IPv6Address: optionalText(m.IPv6), SourceNatIpv6Prefix: optionalText(m.SourceNAT),
		})
	}
	return out
}

// optionalText leaves empty texts out of a request.
func optionalText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// noAnswer is a response without its required content: the call succeeded with an
// unknown result.
func noAnswer(operation string) error {
	return fault.New(fault.Ambiguous, "%s: the answer names nothing", operation)
}

func setNetworkGroups(c *change, spec model.Network) plan.Outcome {
	in := &elbv2.SetSecurityGroupsInput{
		LoadBalancerArn: awssdk.String(c.ID()), SecurityGroups: c.IDs(spec.Groups),
		EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic: elbv2types.EnforceSecurityGroupInboundRulesOnPrivateLinkTrafficEnum(spec.PrivateLink),
	}
	_, err := writeCall(c.Ctx, c.Session.network.SetSecurityGroups, in)
	return c.Updated(spec, notYet(err, refersToOwn(spec.Groups)))
}

func deleteNetwork(c *change) plan.Outcome {
	_, err := writeCall(c.Ctx, c.Session.network.DeleteLoadBalancer, &elbv2.DeleteLoadBalancerInput{LoadBalancerArn: awssdk.String(c.ID())})
	return kit.Deleted(err)
}

// setNetworkAttributes sends the attributes that differ, and no others.
func setNetworkAttributes(c *change, want model.Attributes) plan.Outcome {
	differing, all := attributesToWrite(c, want)
	in := &elbv2.ModifyLoadBalancerAttributesInput{
		LoadBalancerArn: awssdk.String(c.ID()),
		Attributes: tagList(differing, func(k, v *string) elbv2types.LoadBalancerAttribute {
			return elbv2types.LoadBalancerAttribute{Key: k, Value: v}
		}),
	}
	out, err := writeCall(c.Ctx, c.Session.network.ModifyLoadBalancerAttributes, in)
	if err != nil {
		return kit.Failed(err)
	}
	for _, a := range out.Attributes {
		all.Values[awssdk.ToString(a.Key)] = awssdk.ToString(a.Value)
	}
	return c.Updated(all, nil)
}

func setTargetAttributes(c *change, want model.Attributes) plan.Outcome {
	differing, all := attributesToWrite(c, want)
	in := &elbv2.ModifyTargetGroupAttributesInput{
		TargetGroupArn: awssdk.String(c.ID()),
		Attributes: tagList(differing, func(k, v *string) elbv2types.TargetGroupAttribute {
			return elbv2types.TargetGroupAttribute{Key: k, Value: v}
		}),
	}
	out, err := writeCall(c.Ctx, c.Session.network.ModifyTargetGroupAttributes, in)
	if err != nil {
		return kit.Failed(err)
	}
	for _, a := range out.Attributes {
		all.Values[awssdk.ToString(a.Key)] = awssdk.ToString(a.Value)
	}
	return c.Updated(all, nil)
}

// attributesToWrite returns the attributes that the step must write, and the ones that
// are known afterwards; the response adds attributes that were not requested.
func attributesToWrite(c *change, want model.Attributes) (differing model.Tags, all model.Attributes) {
	found, _ := c.Step.Found.(model.Attributes)
	all.Values = maps.Clone(found.Values)
	if all.Values == nil {
		all.Values = model.Tags{}
	}
	maps.Copy(all.Values, want.Values)
	return model.MissingTags(want.Values, found.Values), all
}

func createListener(c *change, spec model.Listener) plan.Outcome {
	in := &elbv2.CreateListenerInput{
		LoadBalancerArn: awssdk.String(c.Parent()), Port: &spec.Port, Protocol: elbv2types.ProtocolEnum(spec.Protocol),
		DefaultActions: forwardActions(c, spec), Certificates: listenerCertificates(spec), SslPolicy: policyOf(spec), AlpnPolicy: alpnOf(spec), Tags: tagList(spec.Tags, networkTag),
	}
	out, err := writeCall(c.Ctx, c.Session.network.CreateListener, in)
	if err == nil && len(out.Listeners) == 0 {
		err = noAnswer("CreateListener")
	}
	if err != nil {
		return kit.Failed(err)
	}
	return c.Created(awssdk.ToString(out.Listeners[0].ListenerArn), stack.Derived, listenerAfter(spec, out.Listeners[0]))
}

// updateListener leaves a target group once another one can serve. Where AWS refuses two
// groups the listener switches at once.
func updateListener(c *change, spec model.Listener) plan.Outcome {
	manual, err := awaitHealthy(c, spec)
	if err != nil {
		return kit.Failed(err)
	}
	modify := func() (*elbv2.ModifyListenerOutput, error) {
		return writeCall(c.Ctx, c.Session.network.ModifyListener, &elbv2.ModifyListenerInput{
			ListenerArn: awssdk.String(c.ID()), Port: &spec.Port, Protocol: elbv2types.ProtocolEnum(spec.Protocol),
			DefaultActions: forwardActions(c, spec), Certificates: listenerCertificates(spec), SslPolicy: policyOf(spec), AlpnPolicy: alpnOf(spec),
		})
	}
	out, err := modify()
	if spec.Leaving != "" && withoutWeights(err) {
		spec = spec.Alone()
		out, err = modify()
	}
	if err != nil {
		return kit.Failed(err)
	}
	if len(out.Listeners) > 0 {
		spec = listenerAfter(spec, out.Listeners[0])
	}
	o := c.Updated(spec, nil)
	o.Manual = manual
	return o
}

// listenerAfter returns a listener with the values that AWS chose where none were set,
// and without tags that no read shows.
func listenerAfter(l model.Listener, answer elbv2types.Listener) model.Listener {
	l.Tags, l.Leaving = l.Tags.Shown(), ""
	if answer.Protocol != "" {
		l.Protocol = string(answer.Protocol)
	}
	l.SSLPolicy = awssdk.ToString(answer.SslPolicy)
	return l
}

func forwardActions(c *change, l model.Listener) []elbv2types.Action {
	group := c.Batch.ID(c.Step, l.TargetGroup)
	if len(l.Shares) == 0 {
		return []elbv2types.Action{{Type: elbv2types.ActionTypeEnumForward, TargetGroupArn: &group}}
	}
	var shares []elbv2types.TargetGroupTuple
	for _, s := range l.Shares {
		arn := cmp.Or(s.Group, group)
		if !s.Of.IsZero() {
			arn = c.Batch.ID(c.Step, s.Of)
		}
		shares = append(shares, elbv2types.TargetGroupTuple{TargetGroupArn: &arn, Weight: &s.Weight})
	}
	sticks := l.Sticks == model.StickinessOn
	return []elbv2types.Action{{Type: elbv2types.ActionTypeEnumForward, ForwardConfig: &elbv2types.ForwardActionConfig{
		TargetGroups: shares, TargetGroupStickinessConfig: &elbv2types.TargetGroupStickinessConfig{Enabled: &sticks},
	}}}
}

func listenerCertificates(l model.Listener) []elbv2types.Certificate {
	if l.Certificate == "" {
		return nil
	}
	return []elbv2types.Certificate{{CertificateArn: awssdk.String(l.Certificate)}}
}

// policyOf leaves the policy to AWS if none is set. Without TLS there is none, whatever
// was found before the protocol changed.
func policyOf(l model.Listener) *string {
	if l.Protocol != string(elbv2types.ProtocolEnumTls) {
		return nil
	}
	return optionalText(l.SSLPolicy)
}

func deleteListener(c *change) plan.Outcome {
	_, err := writeCall(c.Ctx, c.Session.network.DeleteListener, &elbv2.DeleteListenerInput{ListenerArn: awssdk.String(c.ID())})
	return kit.Deleted(err)
}

// alpnOf: only TLS listeners have one, and AWS refuses it elsewhere.
func alpnOf(l model.Listener) []string {
	if l.ALPN == "" || l.Protocol != model.ProtocolTLS {
		return nil
	}
	return []string{l.ALPN}
}
