package wire

import (
	"context"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// createClassic makes the load balancer with its listeners in one call.
func createClassic(c *change, spec model.Classic) plan.Outcome {
	in := &elb.CreateLoadBalancerInput{
		LoadBalancerName: &spec.Name, Subnets: spec.Subnets, SecurityGroups: c.IDs(spec.Groups), Tags: tagList(spec.Tags, classicTag),
	}
	if spec.Scheme == model.SchemeInternal {
		in.Scheme = &spec.Scheme
	}
	var parts []stack.Resource
	for _, r := range c.Step.With {
		port, ok := r.Spec.(model.ClassicPort)
		if !ok {
			continue
		}
		in.Listeners = append(in.Listeners, wireListener(port))
		port.Balancer = spec.Name
		parts = append(parts, madeListener(r, port))
	}
	out, err := writeCall(c.Ctx, c.Session.classic.CreateLoadBalancer, in, onceClassic)
	if err != nil {
		return kit.Failed(notYet(err, refersToOwn(spec.Groups)))
	}
	spec.DNSName = awssdk.ToString(out.DNSName)
	o := c.Created(spec.Name, stack.Name, spec)
	o.Parts = parts
	return o
}

func refersToOwn(groups []stack.Ref) bool {
	return slices.ContainsFunc(groups, func(r stack.Ref) bool { return r.ID == "" })
}

func wireListener(p model.ClassicPort) elbtypes.Listener {
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
func madeListener(r stack.Resource, p model.ClassicPort) stack.Resource {
	r.ID, r.Proof, r.Spec = model.PartID(p.Balancer, model.KindClassicPort, r.Key.Name), stack.Derived, p
	return r
}

// createClassicListeners makes all listeners of the batch in one call.
func (s *Session) createClassicListeners(ctx context.Context, b plan.Batch) []plan.Outcome {
	in := &elb.CreateLoadBalancerListenersInput{LoadBalancerName: awssdk.String(balancerIn(b, b.Steps[0]))}
	for _, step := range b.Steps {
		in.Listeners = append(in.Listeners, wireListener(portOf(step)))
	}
	if _, err := writeCall(ctx, s.classic.CreateLoadBalancerListeners, in); err != nil {
		return kit.Every(b, kit.Failed(err))
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
	_, err := writeCall(ctx, s.classic.DeleteLoadBalancerListeners, in)
	return kit.Every(b, kit.Deleted(err))
}

// portOf is the listener of a step; Apply has looked at its kind.
func portOf(s plan.Step) model.ClassicPort {
	port, _ := s.Target.Spec.(model.ClassicPort)
	return port
}

// balancerIn is the name of the Classic Load Balancer that a step is about.
func balancerIn(b plan.Batch, s plan.Step) string {
	if p := portOf(s); p.Balancer != "" {
		return p.Balancer
	}
	return b.ID(s, stack.RefTo(stack.Key{Kind: model.KindClassic}))
}

func balancerName(c *change) *string { return awssdk.String(balancerIn(c.Batch, c.Step)) }

func setClassicGroups(c *change, spec model.Classic) plan.Outcome {
	in := &elb.ApplySecurityGroupsToLoadBalancerInput{LoadBalancerName: balancerName(c), SecurityGroups: c.IDs(spec.Groups)}
	_, err := writeCall(c.Ctx, c.Session.classic.ApplySecurityGroupsToLoadBalancer, in)
	return c.Updated(spec, notYet(err, refersToOwn(spec.Groups)))
}

// tagClassic adds the tags that are missing or differ; what others added stays.
func tagClassic(c *change, spec model.Classic) plan.Outcome {
	found, _ := c.Step.Found.(model.Classic)
	in := &elb.AddTagsInput{LoadBalancerNames: []string{*balancerName(c)}, Tags: tagList(model.MissingTags(spec.Tags, found.Tags), classicTag)}
	_, err := writeCall(c.Ctx, c.Session.classic.AddTags, in)
	spec.Tags = model.Over(found.Tags, spec.Tags)
	return c.Updated(spec, err)
}

func deleteClassic(c *change) plan.Outcome {
	_, err := writeCall(c.Ctx, c.Session.classic.DeleteLoadBalancer, &elb.DeleteLoadBalancerInput{LoadBalancerName: awssdk.String(c.ID())})
	c.Session.facts.forgetClassic(c.ID())
	return kit.Deleted(err)
}

func registerInstances(c *change) plan.Outcome {
	o := addMachines(c, *balancerName(c), sameID, func(ids []string) error {
		_, err := writeCall(c.Ctx, c.Session.classic.RegisterInstancesWithLoadBalancer, &elb.RegisterInstancesWithLoadBalancerInput{LoadBalancerName: balancerName(c), Instances: wireInstances(ids)})
		return err
	})
	return asPart(c, o)
}

func deregisterInstances(c *change) plan.Outcome {
	_, remove := plan.Members[string](c.Step)
	o := removeMachines(c, remove, sameID, func(ids []string) error {
		_, err := writeCall(c.Ctx, c.Session.classic.DeregisterInstancesFromLoadBalancer, &elb.DeregisterInstancesFromLoadBalancerInput{LoadBalancerName: balancerName(c), Instances: wireInstances(ids)})
		return err
	})
	return asPart(c, o)
}

func sameID(id string) string { return id }

func wireInstances(ids []string) []elbtypes.Instance {
	out := make([]elbtypes.Instance, 0, len(ids))
	for _, id := range ids {
		out = append(out, elbtypes.Instance{InstanceId: awssdk.String(id)})
	}
	return out
}
