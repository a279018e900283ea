package wire

import (
	"context"
	"errors"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/kit/codec"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// port is the port of the load balancer's address. A process that did not make the load
// balancer and has not read it asks.
func (s *Session) port(ctx context.Context, balancer string) (string, error) {
	if port, _ := s.ports.Get(balancer, 0); port != "" {
		return port, nil
	}
	lb, err := s.getBalancer(ctx, balancer)
	if err != nil {
		return "", err
	}
	s.ports.Set(balancer, lb.Spec.Port)
	return lb.Spec.Port, nil
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
	made := answer[model.FloatingIP]{kind: model.FloatingIPCodec()}
	body := made.kind.Create(spec, nil)
	body["port_id"] = port
	for _, subnet := range subnets {
		if subnet != "" {
			body["subnet_id"] = subnet
		}
		err = c.Session.write(c.Ctx, createCall(c.Session, made.kind, body), &made)
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
	spec.Address, spec.Subnets = made.item.Spec.Address, nil // the cloud does not show which subnet was asked for
	return c.Created(made.item.ID, stack.Description, spec)
}

// bind binds a floating IP to a port; nil: to none.
func (s *Session) bind(ctx context.Context, id string, port *string) error {
	return s.write(ctx, updateCall(s, model.FloatingIPCodec(), id, codec.Object{"port_id": port}), nil)
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
	return kit.Deleted(c.Session.write(c.Ctx, deleteCall(c.Session, model.FloatingIPCodec(), c.Step.Target.ID), nil))
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
	ip, err := getItem(ctx, s, model.FloatingIPCodec(), id)
	if err != nil {
		return err
	}
	bound := ip.Port
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
