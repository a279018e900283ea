package aws

import (
	"maps"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

func createNetwork(c *change, spec Network) plan.Outcome {
	in := &elbv2.CreateLoadBalancerInput{
		Name: &spec.Name, Type: elbv2types.LoadBalancerTypeEnumNetwork,
		SecurityGroups: c.ids(spec.Groups), Tags: tagList(spec.Tags, networkTag),
	}
	if spec.Scheme == schemeInternal {
		in.Scheme = elbv2types.LoadBalancerSchemeEnumInternal
	}
	for _, m := range spec.Mappings {
		in.SubnetMappings = append(in.SubnetMappings, elbv2types.SubnetMapping{
			SubnetId: awssdk.String(m.Subnet), AllocationId: optional(m.Allocation), PrivateIPv4Address: optional(m.PrivateIP),
		})
	}
	out, err := tell(c.ctx, c.network.CreateLoadBalancer, in, onceNetwork)
	if err == nil && len(out.LoadBalancers) == 0 {
		err = noAnswer("CreateLoadBalancer")
	}
	if err != nil {
		return failed(notYet(err, refersToOwn(spec.Groups)))
	}
	lb := out.LoadBalancers[0]
	spec.DNSName = awssdk.ToString(lb.DNSName)
	o := c.created(arnOf(lb), stack.Name, spec)
	o.After.State = stateOf(lb)
	return o
}

// optional leaves empty texts out of a request.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// noAnswer is an answer without what it must carry: the call went through, and
// nobody knows to what end.
func noAnswer(operation string) error {
	return fault.New(fault.Ambiguous, "%s: the answer names nothing", operation)
}

func setNetworkGroups(c *change, spec Network) plan.Outcome {
	in := &elbv2.SetSecurityGroupsInput{LoadBalancerArn: awssdk.String(c.id()), SecurityGroups: c.ids(spec.Groups)}
	_, err := tell(c.ctx, c.network.SetSecurityGroups, in)
	return c.updated(spec, notYet(err, refersToOwn(spec.Groups)))
}

func deleteNetwork(c *change) plan.Outcome {
	_, err := tell(c.ctx, c.network.DeleteLoadBalancer, &elbv2.DeleteLoadBalancerInput{LoadBalancerArn: awssdk.String(c.id())})
	return deleted(err)
}

// setNetworkAttributes sends the attributes that differ, and no others.
func setNetworkAttributes(c *change, want Attributes) plan.Outcome {
	differing, all := c.attributes(want)
	in := &elbv2.ModifyLoadBalancerAttributesInput{
		LoadBalancerArn: awssdk.String(c.id()),
		Attributes: tagList(differing, func(k, v *string) elbv2types.LoadBalancerAttribute {
			return elbv2types.LoadBalancerAttribute{Key: k, Value: v}
		}),
	}
	out, err := tell(c.ctx, c.network.ModifyLoadBalancerAttributes, in)
	if err != nil {
		return failed(err)
	}
	for _, a := range out.Attributes {
		all.Values[awssdk.ToString(a.Key)] = awssdk.ToString(a.Value)
	}
	return c.updated(all, nil)
}

func setTargetAttributes(c *change, want Attributes) plan.Outcome {
	differing, all := c.attributes(want)
	in := &elbv2.ModifyTargetGroupAttributesInput{
		TargetGroupArn: awssdk.String(c.id()),
		Attributes: tagList(differing, func(k, v *string) elbv2types.TargetGroupAttribute {
			return elbv2types.TargetGroupAttribute{Key: k, Value: v}
		}),
	}
	out, err := tell(c.ctx, c.network.ModifyTargetGroupAttributes, in)
	if err != nil {
		return failed(err)
	}
	for _, a := range out.Attributes {
		all.Values[awssdk.ToString(a.Key)] = awssdk.ToString(a.Value)
	}
	return c.updated(all, nil)
}

// attributes are those that the step must write, and all that are known then;
// the answer adds those that nobody has asked for yet.
func (c *change) attributes(want Attributes) (differing Tags, all Attributes) {
	found, _ := c.step.Found.(Attributes)
	all.Values = maps.Clone(found.Values)
	if all.Values == nil {
		all.Values = Tags{}
	}
	maps.Copy(all.Values, want.Values)
	return missingTags(want.Values, found.Values), all
}

func createListener(c *change, spec Listener) plan.Outcome {
	in := &elbv2.CreateListenerInput{
		LoadBalancerArn: awssdk.String(c.parent()), Port: &spec.Port, Protocol: elbv2types.ProtocolEnum(spec.Protocol),
		DefaultActions: c.forward(spec), Certificates: certificates(spec), SslPolicy: policyOf(spec), Tags: tagList(spec.Tags, networkTag),
	}
	out, err := tell(c.ctx, c.network.CreateListener, in)
	if err == nil && len(out.Listeners) == 0 {
		err = noAnswer("CreateListener")
	}
	if err != nil {
		return failed(err)
	}
	return c.created(awssdk.ToString(out.Listeners[0].ListenerArn), stack.Derived, spec.after(out.Listeners[0]))
}

func updateListener(c *change, spec Listener) plan.Outcome {
	in := &elbv2.ModifyListenerInput{
		ListenerArn: awssdk.String(c.id()), Port: &spec.Port, Protocol: elbv2types.ProtocolEnum(spec.Protocol),
		DefaultActions: c.forward(spec), Certificates: certificates(spec), SslPolicy: policyOf(spec),
	}
	out, err := tell(c.ctx, c.network.ModifyListener, in)
	if err != nil {
		return failed(err)
	}
	if len(out.Listeners) > 0 {
		spec = spec.after(out.Listeners[0])
	}
	return c.updated(spec, nil)
}

// after is the listener with what AWS chose where nobody else did.
func (l Listener) after(answer elbv2types.Listener) Listener {
	if answer.Protocol != "" {
		l.Protocol = string(answer.Protocol)
	}
	l.SSLPolicy = awssdk.ToString(answer.SslPolicy)
	return l
}

func (c *change) forward(l Listener) []elbv2types.Action {
	group := c.batch.ID(c.step, l.TargetGroup)
	return []elbv2types.Action{{Type: elbv2types.ActionTypeEnumForward, TargetGroupArn: &group}}
}

func certificates(l Listener) []elbv2types.Certificate {
	if l.Certificate == "" {
		return nil
	}
	return []elbv2types.Certificate{{CertificateArn: awssdk.String(l.Certificate)}}
}

// policyOf leaves the policy to AWS if nobody chose one. Without TLS there is
// none, whatever was found before the protocol changed.
func policyOf(l Listener) *string {
	if l.Protocol != string(elbv2types.ProtocolEnumTls) {
		return nil
	}
	return optional(l.SSLPolicy)
}

func deleteListener(c *change) plan.Outcome {
	_, err := tell(c.ctx, c.network.DeleteListener, &elbv2.DeleteListenerInput{ListenerArn: awssdk.String(c.id())})
	return deleted(err)
}
