package aws

import (
	"context"
	"maps"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// createClassic makes the load balancer with its listeners in one call.
func createClassic(c *change, spec Classic) plan.Outcome {
	in := &elb.CreateLoadBalancerInput{
		LoadBalancerName: &spec.Name, Subnets: spec.Subnets, SecurityGroups: c.ids(spec.Groups), Tags: tagList(spec.Tags, classicTag),
	}
	if spec.Scheme == schemeInternal {
		in.Scheme = &spec.Scheme
	}
	var parts []stack.Resource
	for _, r := range c.step.With {
		port, ok := r.Spec.(ClassicPort)
		if !ok {
			continue
		}
		in.Listeners = append(in.Listeners, wireListener(port))
		port.Balancer = spec.Name
		parts = append(parts, madeListener(r, port))
	}
	out, err := tell(c.ctx, c.classic.CreateLoadBalancer, in, onceClassic)
	if err != nil {
		return failed(notYet(err, refersToOwn(spec.Groups)))
	}
	spec.DNSName = awssdk.ToString(out.DNSName)
	o := c.created(spec.Name, stack.Name, spec)
	o.Parts = parts
	return o
}

func refersToOwn(groups []stack.Ref) bool {
	return slices.ContainsFunc(groups, func(r stack.Ref) bool { return r.ID == "" })
}

func wireListener(p ClassicPort) elbtypes.Listener {
	l := elbtypes.Listener{
		Protocol: awssdk.String(p.Protocol), LoadBalancerPort: p.Port,
		InstanceProtocol: awssdk.String(p.InstanceProtocol), InstancePort: awssdk.Int32(p.InstancePort),
	}
	if p.Certificate != "" {
		l.SSLCertificateId = awssdk.String(p.Certificate)
	}
	return l
}

// madeListener is a listener as it is after its creation.
func madeListener(r stack.Resource, p ClassicPort) stack.Resource {
	r.ID, r.Proof, r.Spec = partID(p.Balancer, string(KindClassicPort), r.Key.Name), stack.Derived, p
	return r
}

// createClassicListeners makes all listeners of the batch in one call.
func (s *Session) createClassicListeners(ctx context.Context, b plan.Batch) []plan.Outcome {
	in := &elb.CreateLoadBalancerListenersInput{LoadBalancerName: awssdk.String(balancerIn(b, b.Steps[0]))}
	for _, step := range b.Steps {
		in.Listeners = append(in.Listeners, wireListener(portOf(step)))
	}
	if _, err := tell(ctx, s.classic.CreateLoadBalancerListeners, in); err != nil {
		return every(b, failed(err))
	}
	out := make([]plan.Outcome, 0, len(b.Steps))
	for _, step := range b.Steps {
		port := portOf(step)
		port.Balancer = *in.LoadBalancerName
		out = append(out, plan.Done(madeListener(step.Target, port)))
	}
	return out
}

// deleteClassicListeners removes all listeners of the batch in one call. AWS
// takes a port without a listener for removed.
func (s *Session) deleteClassicListeners(ctx context.Context, b plan.Batch) []plan.Outcome {
	in := &elb.DeleteLoadBalancerListenersInput{LoadBalancerName: awssdk.String(balancerIn(b, b.Steps[0]))}
	for _, step := range b.Steps {
		in.LoadBalancerPorts = append(in.LoadBalancerPorts, portOf(step).Port)
	}
	_, err := tell(ctx, s.classic.DeleteLoadBalancerListeners, in)
	return every(b, deleted(err))
}

// portOf is the listener of a step; Apply has looked at its kind.
func portOf(s plan.Step) ClassicPort {
	port, _ := s.Target.Spec.(ClassicPort)
	return port
}

// balancerIn is the name of the Classic Load Balancer that a step is about.
func balancerIn(b plan.Batch, s plan.Step) string {
	if p := portOf(s); p.Balancer != "" {
		return p.Balancer
	}
	return b.ID(s, stack.RefTo(stack.Key{Kind: KindClassic}))
}

func (c *change) balancer() *string { return awssdk.String(balancerIn(c.batch, c.step)) }

func attachSubnets(c *change) plan.Outcome {
	return addMembers(c, func(subnets []string) error {
		_, err := tell(c.ctx, c.classic.AttachLoadBalancerToSubnets, &elb.AttachLoadBalancerToSubnetsInput{LoadBalancerName: c.balancer(), Subnets: subnets})
		return err
	})
}

func detachSubnets(c *change) plan.Outcome {
	return removeMembers(c, func(subnets []string) error {
		_, err := tell(c.ctx, c.classic.DetachLoadBalancerFromSubnets, &elb.DetachLoadBalancerFromSubnetsInput{LoadBalancerName: c.balancer(), Subnets: subnets})
		return err
	})
}

func setClassicGroups(c *change, spec Classic) plan.Outcome {
	in := &elb.ApplySecurityGroupsToLoadBalancerInput{LoadBalancerName: c.balancer(), SecurityGroups: c.ids(spec.Groups)}
	_, err := tell(c.ctx, c.classic.ApplySecurityGroupsToLoadBalancer, in)
	return c.updated(spec, notYet(err, refersToOwn(spec.Groups)))
}

// tagClassic adds the tags that are missing or differ; what others added stays.
func tagClassic(c *change, spec Classic) plan.Outcome {
	found, _ := c.step.Found.(Classic)
	in := &elb.AddTagsInput{LoadBalancerNames: []string{*c.balancer()}, Tags: tagList(missingTags(spec.Tags, found.Tags), classicTag)}
	_, err := tell(c.ctx, c.classic.AddTags, in)
	all := maps.Clone(found.Tags)
	if all == nil {
		all = Tags{}
	}
	maps.Copy(all, spec.Tags)
	spec.Tags = all
	return c.updated(spec, err)
}

func deleteClassic(c *change) plan.Outcome {
	_, err := tell(c.ctx, c.classic.DeleteLoadBalancer, &elb.DeleteLoadBalancerInput{LoadBalancerName: awssdk.String(c.id())})
	c.facts.forgetClassic(c.id())
	return deleted(err)
}

func registerInstances(c *change) plan.Outcome {
	return addMachines(c, itself, func(ids []string) error {
		_, err := tell(c.ctx, c.classic.RegisterInstancesWithLoadBalancer, &elb.RegisterInstancesWithLoadBalancerInput{LoadBalancerName: c.balancer(), Instances: wireInstances(ids)})
		return err
	})
}

func deregisterInstances(c *change) plan.Outcome {
	return removeMachines(c, itself, func(ids []string) error {
		_, err := tell(c.ctx, c.classic.DeregisterInstancesFromLoadBalancer, &elb.DeregisterInstancesFromLoadBalancerInput{LoadBalancerName: c.balancer(), Instances: wireInstances(ids)})
		return err
	})
}

func itself(id string) string { return id }

func wireInstances(ids []string) []elbtypes.Instance {
	out := make([]elbtypes.Instance, 0, len(ids))
	for _, id := range ids {
		out = append(out, elbtypes.Instance{InstanceId: awssdk.String(id)})
	}
	return out
}
