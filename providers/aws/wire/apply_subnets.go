package wire

import (
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack/plan"
)

// setClassicSubnets moves a Classic Load Balancer into other subnets. It has one in each
// zone at most and one in all at least. So new zones are attached first, then each zone
// changes its subnet, and subnets without a replacement are detached last. Source: API
// reference 2012-06-01, AttachLoadBalancerToSubnets and DetachLoadBalancerFromSubnets.
func setClassicSubnets(c *change, spec model.Classic) plan.Outcome {
	found, _ := c.Step.Found.(model.Classic)
	sent := false
	for _, m := range subnetMoves(found.Subnets, spec.Subnets, c.Session.facts.subnetZones()) {
		if err := m.call(c); err != nil {
			o := kit.Failed(err)
			if sent {
				o.Sent = plan.MaybeSent // it is half of what it was, which only a read tells
			}
			return o
		}
		sent = true
	}
	return c.Updated(spec, nil)
}

// subnetMove is one call that attaches subnets, or detaches some.
type subnetMove struct {
	attach  bool
	subnets []string
}

// subnetMoves are the calls from one set of subnets to another, in order.
func subnetMoves(from, to []string, zones map[string]string) []subnetMove {
	goes := subtractList(from, to)
	comes := subtractList(to, from)
	inZone := func(list []string, zone string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return zones[s] == "" || zones[s] != zone })
	}
	var first, swaps, last []subnetMove
	var fresh, rest []string
	for _, s := range comes {
		if len(inZone(goes, zones[s])) == 0 {
			fresh = append(fresh, s)
		}
	}
	for _, s := range goes {
		if next := inZone(comes, zones[s]); len(next) > 0 {
			swaps = append(swaps, subnetMove{false, []string{s}}, subnetMove{true, next})
			continue
		}
		rest = append(rest, s)
	}
	if len(fresh) > 0 {
		first = append(first, subnetMove{true, fresh})
	}
	if len(rest) > 0 {
		last = append(last, subnetMove{false, rest})
	}
	return slices.Concat(first, swaps, last)
}

// subtractList returns the members of a list that are not in the other one.
func subtractList(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}

func (m subnetMove) call(c *change) error {
	if m.attach {
		_, err := writeCall(c.Ctx, c.Session.classic.AttachLoadBalancerToSubnets, &elb.AttachLoadBalancerToSubnetsInput{LoadBalancerName: balancerName(c), Subnets: m.subnets})
		return err
	}
	_, err := writeCall(c.Ctx, c.Session.classic.DetachLoadBalancerFromSubnets, &elb.DetachLoadBalancerFromSubnetsInput{LoadBalancerName: balancerName(c), Subnets: m.subnets})
	return err
}

// setNetworkSubnets gives a Network Load Balancer its whole list of subnets, each with
// the addresses that it has there already.
func setNetworkSubnets(c *change, spec model.Network) plan.Outcome {
	in := &elbv2.SetSubnetsInput{LoadBalancerArn: awssdk.String(c.ID()), SubnetMappings: wireMappings(spec.Mappings),
		EnablePrefixForIpv6SourceNat: elbv2types.EnablePrefixForIpv6SourceNatEnum(spec.SourceNAT)}
	out, err := writeCall(c.Ctx, c.Session.network.SetSubnets, in)
	if err != nil {
		return kit.Failed(err)
	}
	if len(out.AvailabilityZones) > 0 {
		spec.Mappings = mappingsOf(out.AvailabilityZones)
	}
	return c.Updated(spec, nil)
}

// tagNetwork adds to the load balancer of a group the tags that are missing or differ; what others added stays.
func tagNetwork(c *change, spec model.Network) plan.Outcome {
	found, _ := c.Step.Found.(model.Network)
	err := c.Session.tagNetworks(c.Ctx, []string{c.ID()}, model.MissingTags(spec.Tags, found.Tags))
	spec.Tags = model.Over(found.Tags, spec.Tags)
	return c.Updated(spec, err)
}
