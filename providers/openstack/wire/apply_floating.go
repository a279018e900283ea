package wire

import (
	"context"
	"errors"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// port is the port of the load balancer's address. A process that did not make the load
// balancer and has not read it asks.
func (s *Session) port(ctx context.Context, balancer string) (string, error) {
	if port := s.portOf(balancer); port != "" {
		return port, nil
	}
	lb, err := s.getBalancer(ctx, balancer)
	if err != nil {
		return "", err
	}
	s.notePort(balancer, lb.VipPortID)
	return lb.VipPortID, nil
}

// createFloating makes a floating IP that is bound to the load balancer. Of several
// subnets the first one counts that has an address left.
func createFloating(c *change, spec model.FloatingIP) plan.Outcome {
	port, err := c.Session.port(c.Ctx, balancerOf(c))
	if err != nil {
		return kit.Failed(err)
	}
	subnets := spec.Subnets
	if len(subnets) == 0 {
		subnets = []string{""}
	}
	var made *floatingips.FloatingIP
	for _, subnet := range subnets {
		opts := floatingips.CreateOpts{FloatingNetworkID: spec.Network, PortID: port, Description: spec.Description, SubnetID: subnet, FloatingIP: spec.Address}
		err = c.Session.write(c.Ctx, bucketNetwork, func(ctx context.Context) error {
			made, err = floatingips.Create(ctx, c.Session.network, opts).Extract()
			return err
		})
		if err == nil || fault.Is(err, fault.Ambiguous) {
			break
		}
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Meaning == fault.Denied && spec.Address != "" {
		err = f.With(fault.Invalid, "; loadBalancerIP "+spec.Address+" is no floating IP of this project, and the cloud chooses the addresses of new ones: allocate it first")
	}
	if err != nil {
		return kit.Failed(withWish(err, "floating-network-id", spec.Network, "floating-subnet-id", strings.Join(spec.Subnets, " "), "loadBalancerIP", spec.Address))
	}
	spec.Address, spec.Subnets = made.FloatingIP, nil // which subnet was asked for the cloud does not tell
	return c.Created(made.ID, stack.Description, spec)
}

// bind binds a floating IP to the load balancer's port, or to none.
func (s *Session) bind(ctx context.Context, id string, port *string) error {
	return s.write(ctx, bucketNetwork, func(ctx context.Context) error {
		_, err := floatingips.Update(ctx, s.network, id, floatingips.UpdateOpts{PortID: port}).Extract()
		return err
	})
}

func bindFloating(c *change, spec model.FloatingIP) plan.Outcome {
	if spec.Balancer.IsZero() {
		return c.Updated(spec, c.Session.bind(c.Ctx, c.Step.Target.ID, nil))
	}
	port, err := c.Session.port(c.Ctx, balancerOf(c))
	if err == nil {
		err = c.Session.bind(c.Ctx, c.Step.Target.ID, &port)
	}
	return c.Updated(spec, err)
}

// noteKept makes no call: whether a floating IP outlives its Service stands in the
// Service, and is heard when the floating IP is given up.
func noteKept(c *change, spec model.FloatingIP) plan.Outcome { return c.Updated(spec, nil) }

// deleteFloating deletes a floating IP, or unbinds one that is to be kept. That of a load
// balancer which others have begun to use stays.
func deleteFloating(c *change, spec model.FloatingIP) plan.Outcome {
	if !spec.Balancer.IsZero() {
		if err := c.Session.alone(c, c.Batch.ID(c.Step, spec.Balancer)); err != nil {
			return kit.Failed(err)
		}
	}
	if spec.Keep {
		return kit.Deleted(c.Session.bind(c.Ctx, c.Step.Target.ID, nil))
	}
	return kit.Deleted(c.Session.write(c.Ctx, bucketNetwork, func(ctx context.Context) error {
		return floatingips.Delete(ctx, c.Session.network, c.Step.Target.ID).ExtractErr()
	}))
}

// bindGiven binds a floating IP of the user's. One that another port has is left
// there, as by the official controller, and waited for.
func bindGiven(c *change, spec model.Binding) plan.Outcome {
	if spec.Balancer.IsZero() {
		return c.Updated(spec, c.Session.bind(c.Ctx, spec.FloatingIP, nil))
	}
	port, err := c.Session.port(c.Ctx, balancerOf(c))
	if err != nil {
		return kit.Failed(err)
	}
	err = c.Session.rebind(c.Ctx, spec.FloatingIP, func(bound string) (string, error) {
		if bound != "" && bound != port {
			return "", fault.New(fault.InUse, "floating IP %s is bound to port %s; it is taken when that port has let it go", spec.Address, bound)
		}
		return port, nil
	})
	if err != nil {
		return kit.Failed(err)
	}
	return c.Created(spec.FloatingIP, stack.Derived, spec)
}

// unbindGiven unbinds a floating IP of the user from the load balancer's port. If it has
// been bound elsewhere meanwhile, that binding is kept.
func unbindGiven(c *change) plan.Outcome {
	if err := c.Session.alone(c, balancerOf(c)); err != nil {
		return kit.Failed(err)
	}
	port, err := c.Session.port(c.Ctx, balancerOf(c))
	if err != nil {
		return kit.Deleted(err)
	}
	return kit.Deleted(c.Session.rebind(c.Ctx, c.Step.Target.ID, func(bound string) (string, error) {
		if bound == port {
			return "", nil
		}
		return bound, nil
	}))
}

// rebind binds a floating IP to the port that next tells from the one that has it; empty
// stands for none. One change at a time is made to each floating IP. Errors are those of
// next and of the calls.
func (s *Session) rebind(ctx context.Context, id string, next func(bound string) (string, error)) error {
	unlock, err := s.locks.Take(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	var bound string
	err = s.read(ctx, bucketNetwork, func(ctx context.Context) error {
		ip, err := floatingips.Get(ctx, s.network, id).Extract()
		if err == nil {
			bound = ip.PortID
		}
		return err
	})
	if err != nil {
		return err
	}
	port, err := next(bound)
	switch {
	case err != nil:
		return err
	case port == bound:
		return nil
	case port == "":
		return s.bind(ctx, id, nil)
	}
	return s.bind(ctx, id, &port)
}
