package wire

import (
	"cmp"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// setClassicCertificate replaces the certificate of a listener, its only mutable field.
// Clients are served without interruption.
func setClassicCertificate(c *change, spec model.ClassicPort) plan.Outcome {
	in := &elb.SetLoadBalancerListenerSSLCertificateInput{LoadBalancerName: balancerName(c), LoadBalancerPort: spec.Port, SSLCertificateId: &spec.Certificate}
	if _, err := writeCall(c.Ctx, c.Session.classic.SetLoadBalancerListenerSSLCertificate, in); err != nil {
		return kit.Failed(err)
	}
	return plan.Done(madeListener(c.Step.Target, spec))
}

// createClassicPolicy makes a policy. One of the same name is the same policy,
// since the name says what is in it.
func createClassicPolicy(c *change, spec model.ClassicPolicy) plan.Outcome {
	lb := *balancerName(c)
	in := &elb.CreateLoadBalancerPolicyInput{LoadBalancerName: &lb, PolicyName: &spec.Name, PolicyTypeName: &spec.Type}
	in.PolicyAttributes = tagList(spec.Attributes, func(k, v *string) elbtypes.PolicyAttribute {
		return elbtypes.PolicyAttribute{AttributeName: k, AttributeValue: v}
	})
	if _, err := writeCall(c.Ctx, c.Session.classic.CreateLoadBalancerPolicy, in); err != nil && !fault.Is(err, fault.Exists) {
		return kit.Failed(err)
	}
	return c.Created(model.PartID(lb, model.KindClassicPol, spec.Name), stack.Derived, spec)
}

// deleteClassicPolicy deletes a policy, unless a listener still has it: a listener keeps
// its policy when no Service asks for one any more, and AWS then refuses.
func deleteClassicPolicy(c *change) plan.Outcome {
	in := &elb.DeleteLoadBalancerPolicyInput{LoadBalancerName: balancerName(c), PolicyName: awssdk.String(c.Step.Target.Key.Name)}
	_, err := writeCall(c.Ctx, c.Session.classic.DeleteLoadBalancerPolicy, in)
	if fault.Is(err, fault.Invalid) {
		return plan.Outcome{Sent: plan.WasSent}
	}
	return kit.Deleted(err)
}

// policyWords are the names of policies, never nil: an empty list takes all
// policies away, and must be sent.
func policyWords(refs []stack.Ref) []string {
	names := make([]string, 0, len(refs))
	for _, r := range refs {
		names = append(names, cmp.Or(r.ID, r.To.Name))
	}
	return names
}

func setListenerPolicies(c *change, spec model.ClassicPolicies) plan.Outcome {
	in := &elb.SetLoadBalancerPoliciesOfListenerInput{LoadBalancerName: balancerName(c), LoadBalancerPort: spec.Port, PolicyNames: policyWords(spec.Policies)}
	_, err := writeCall(c.Ctx, c.Session.classic.SetLoadBalancerPoliciesOfListener, in)
	return asPart(c, c.Updated(spec, err))
}

func setBackendPolicies(c *change, spec model.ClassicPolicies) plan.Outcome {
	in := &elb.SetLoadBalancerPoliciesForBackendServerInput{LoadBalancerName: balancerName(c), InstancePort: &spec.Port, PolicyNames: policyWords(spec.Policies)}
	_, err := writeCall(c.Ctx, c.Session.classic.SetLoadBalancerPoliciesForBackendServer, in)
	return asPart(c, c.Updated(spec, err))
}

// setClassicAttributes writes the groups of attributes in which a field differs. A group
// is always written whole, so fields that no annotation sets are written back as found.
func setClassicAttributes(c *change, want model.ClassicAttributes) plan.Outcome {
	found, _ := c.Step.Found.(model.ClassicAttributes)
	want = want.Over(found)
	in := &elb.ModifyLoadBalancerAttributesInput{LoadBalancerName: balancerName(c), LoadBalancerAttributes: &elbtypes.LoadBalancerAttributes{}}
	a := in.LoadBalancerAttributes
	if c.Step.Touches("CrossZone") {
		a.CrossZoneLoadBalancing = &elbtypes.CrossZoneLoadBalancing{Enabled: awssdk.ToBool(want.CrossZone)}
	}
	if c.Step.Touches("DrainingEnabled") || c.Step.Touches("DrainingTimeout") {
		a.ConnectionDraining = &elbtypes.ConnectionDraining{Enabled: awssdk.ToBool(want.DrainingEnabled), Timeout: want.DrainingTimeout}
	}
	if c.Step.Touches("IdleTimeout") {
		a.ConnectionSettings = &elbtypes.ConnectionSettings{IdleTimeout: want.IdleTimeout}
	}
	if c.Step.Touches("LogEnabled") || c.Step.Touches("LogBucket") || c.Step.Touches("LogPrefix") || c.Step.Touches("LogEmitInterval") {
		a.AccessLog = &elbtypes.AccessLog{
			Enabled: awssdk.ToBool(want.LogEnabled), S3BucketName: want.LogBucket, S3BucketPrefix: want.LogPrefix, EmitInterval: want.LogEmitInterval,
		}
	}
	_, err := writeCall(c.Ctx, c.Session.classic.ModifyLoadBalancerAttributes, in)
	return asPart(c, c.Updated(want, err))
}

func setClassicCheck(c *change, spec model.ClassicHealthCheck) plan.Outcome {
	in := &elb.ConfigureHealthCheckInput{LoadBalancerName: balancerName(c), HealthCheck: &elbtypes.HealthCheck{
		Target: &spec.Target, Interval: &spec.Interval, Timeout: &spec.Timeout,
		HealthyThreshold: &spec.Healthy, UnhealthyThreshold: &spec.Unhealthy,
	}}
	_, err := writeCall(c.Ctx, c.Session.classic.ConfigureHealthCheck, in)
	return asPart(c, c.Updated(spec, err))
}
