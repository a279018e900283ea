package wire

import (
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// createSharedGroup makes the group that all load balancers of the kind send from, unless
// another Service, or the official controller, has made it meanwhile.
func createSharedGroup(c *change, g model.Group) plan.Outcome {
	o := createGroup(c, g)
	if !fault.Is(o.Err, fault.Exists) {
		return withMarkProof(o)
	}
	in := &ec2.DescribeSecurityGroupsInput{Filters: []ec2types.Filter{ec2Filter("vpc-id", g.VPC), ec2Filter("group-name", g.Name)}}
	out, err := readCall(c.Ctx, c.Session.ec2.DescribeSecurityGroups, in)
	if err != nil || len(out.SecurityGroups) != 1 {
		return o
	}
	tags := tagsOfEC2(out.SecurityGroups[0].Tags)
	if tags[model.TagLBCCluster] != g.Tags[model.TagLBCCluster] || tags[model.TagLBCShared] != g.Tags[model.TagLBCShared] || tags[model.TagGroup] != g.Tags[model.TagGroup] {
		return o
	}
	return c.Created(awssdk.ToString(out.SecurityGroups[0].GroupId), stack.Tag, g)
}

// withMarkProof adds the proof of a resource that was created with its marks.
func withMarkProof(o plan.Outcome) plan.Outcome {
	if o.Err == nil {
		o.After.Proof = stack.Tag
	}
	return o
}

// deleteSharedGroup leaves the group alone when another Service has come that wants it.
func deleteSharedGroup(c *change) plan.Outcome {
	if c.Batch.Claims != nil && len(c.Batch.Claims.Others(c.Step.ID.Owner, c.Step.Target)) > 0 {
		return plan.Outcome{}
	}
	return deleteGroup(c)
}

// setAddressType chooses the families. A load balancer that loses IPv6 first gives up the
// prefixes that it sends from, without which AWS does not let it go.
func setAddressType(c *change, spec model.Network) plan.Outcome {
	found, _ := c.Step.Found.(model.Network)
	if spec.AddressType == model.AddressIPv4 && found.SourceNAT == "on" {
		in := &elbv2.SetSubnetsInput{
			LoadBalancerArn: awssdk.String(c.ID()), SubnetMappings: wireMappings(found.Mappings),
			EnablePrefixForIpv6SourceNat: elbv2types.EnablePrefixForIpv6SourceNatEnumOff,
		}
		for i := range in.SubnetMappings {
			in.SubnetMappings[i].SourceNatIpv6Prefix = nil
		}
		if _, err := writeCall(c.Ctx, c.Session.network.SetSubnets, in); err != nil {
			return kit.Failed(err)
		}
	}
	in := &elbv2.SetIpAddressTypeInput{LoadBalancerArn: awssdk.String(c.ID()), IpAddressType: elbv2types.IpAddressType(spec.AddressType)}
	_, err := writeCall(c.Ctx, c.Session.network.SetIpAddressType, in)
	return c.Updated(spec, err)
}

// podTargets reports whether the members of a step are addresses of pods, which EC2 does
// not list.
func podTargets(list []model.Target) bool {
	return slices.ContainsFunc(list, func(t model.Target) bool { _, machine := model.InstanceID(t.ID); return !machine })
}

// changePods registers or deregisters addresses, and searches for the rejected member
// where AWS refuses them together. Members that were refused before are sent after the
// others, alone.
func changePods(list []model.Target, hunt among[model.Target], call func([]model.Target) error) ([]plan.Refusal, error) {
	var full error
	refused, err := hunt.split(list, func(part []model.Target) error {
		err := call(part)
		if fault.Is(err, fault.Quota) {
			full = err // the next plan chooses among them
			return &fault.Fault{Meaning: fault.Conflict, Err: err}
		}
		return err
	})
	if full != nil {
		refused, err = everyOne(list, full), nil
	}
	return refused, err
}
