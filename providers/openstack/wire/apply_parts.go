package wire

import (
	"context"
	"slices"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

func createListener(c *change, spec model.Listener) plan.Outcome {
	if err := c.Session.mayTake(c, balancerOf(c), c.Step.ID.Key.Name); err != nil {
		return kit.Failed(err)
	}
	pool := c.Resolve(spec.Pool)
	id, err := "", c.Session.mayListen(c.Ctx, balancerOf(c), spec)
	if err == nil {
		id, err = c.Session.postListener(c.Ctx, balancerOf(c), pool, spec)
	}
	if spec.Claim != "" && (fault.Is(err, fault.Exists) || fault.Is(err, fault.Conflict)) {
		// Another Service has the port, so the pool created for it is deleted.
		if gone := c.Session.dropPool(c.Ctx, balancerOf(c), pool); gone != nil {
			err = gone
		}
		return plan.Outcome{Err: err, Sent: plan.MaybeSent}
	}
	if err != nil {
		return kit.Failed(err)
	}
	return c.Created(id, stack.Tag, spec)
}

func (s *Session) postListener(ctx context.Context, balancer, pool string, spec model.Listener) (id string, err error) {
	made := answer[model.Listener]{kind: model.ListenerCodec()}
	body := made.kind.Create(spec, func(stack.Ref) string { return pool })
	body["loadbalancer_id"] = balancer
	err = s.change(ctx, balancer, createCall(s, made.kind, body), &made)
	return made.item.ID, err
}

// updateListener updates the changed fields; it retains tags of others.
func updateListener(c *change, spec model.Listener) plan.Outcome {
	if found, ok := c.Step.Found.(model.Listener); ok {
		tags := slices.Clone(spec.Tags)
		for _, t := range found.Tags {
			if !slices.Contains(tags, t) && !model.Renamed(t, c.Step.ID.Owner) {
				tags = append(tags, t)
			}
		}
		spec.Tags = tags
	}
	return c.Updated(spec, updateFields(c, model.ListenerCodec(), c.Step.Target.ID, spec))
}

func deleteListener(c *change) plan.Outcome {
	return kit.Deleted(writeBelow(c, deleteCall(c.Session, model.ListenerCodec(), c.Step.Target.ID), nil))
}

// createPool creates a pool of an existing load balancer, then its members and its health
// check: the API accepts no tree in this case. After a failure the next plan adds the
// missing parts.
func createPool(c *change, spec model.Pool) plan.Outcome {
	if err := c.Session.mayTake(c, balancerOf(c), c.Step.ID.Key.Name); err != nil {
		return kit.Failed(err)
	}
	id, parts, err := c.Session.postPool(c.Ctx, balancerOf(c), spec, c.Step.With)
	if err != nil && id == "" {
		return kit.Failed(err)
	}
	if err != nil {
		return plan.Outcome{Err: err, Sent: plan.MaybeSent}
	}
	o := c.Created(id, stack.Derived, spec)
	o.Parts = parts
	return o
}

// postPool creates a pool and then its parts among within. It returns them with their
// identifiers. With an id and an error the pool exists, but not all of its parts.
func (s *Session) postPool(ctx context.Context, balancer string, spec model.Pool, within []stack.Resource) (id string, parts []stack.Resource, err error) {
	made := answer[model.Pool]{kind: model.PoolCodec()}
	body := made.kind.Create(spec, nil)
	body["loadbalancer_id"] = balancer
	if spec.Claim != "" {
		body["tags"] = []string{model.ClaimTag(spec.Claim, s.now())}
	}
	if err := s.change(ctx, balancer, createCall(s, made.kind, body), &made); err != nil {
		return "", nil, err
	}
	id = made.item.ID
	for _, part := range within {
		part.ID, part.Proof = id, stack.Derived
		switch content := part.Spec.(type) {
		case model.Members:
			err = s.putMembers(ctx, balancer, id, content)
		case model.Monitor:
			part.ID, err = s.postMonitor(ctx, balancer, id, content)
		}
		if err != nil {
			return id, nil, err
		}
		parts = append(parts, part)
	}
	return id, parts, nil
}

func updatePool(c *change, spec model.Pool) plan.Outcome {
	return c.Updated(spec, updateFields(c, model.PoolCodec(), c.Step.Target.ID, spec))
}

func deletePool(c *change) plan.Outcome {
	return kit.Deleted(c.Session.dropPool(c.Ctx, balancerOf(c), c.Step.Target.ID))
}

func (s *Session) dropPool(ctx context.Context, balancer, id string) error {
	return s.change(ctx, balancer, deleteCall(s, model.PoolCodec(), id), nil)
}

func createMonitor(c *change, spec model.Monitor) plan.Outcome {
	id, err := c.Session.postMonitor(c.Ctx, balancerOf(c), c.Parent(), spec)
	if err != nil {
		return kit.Failed(err)
	}
	return c.Created(id, stack.Derived, spec)
}

func (s *Session) postMonitor(ctx context.Context, balancer, pool string, spec model.Monitor) (id string, err error) {
	made := answer[model.Monitor]{kind: model.MonitorCodec()}
	body := made.kind.Create(spec, nil)
	body["pool_id"] = pool
	err = s.change(ctx, balancer, createCall(s, made.kind, body), &made)
	return made.item.ID, err
}

func updateMonitor(c *change, spec model.Monitor) plan.Outcome {
	id, err := monitorOf(c)
	if err == nil {
		err = updateFields(c, model.MonitorCodec(), id, spec)
	}
	return c.Updated(spec, err)
}

func deleteMonitor(c *change) plan.Outcome {
	id, err := monitorOf(c)
	if err == nil {
		err = writeBelow(c, deleteCall(c.Session, model.MonitorCodec(), id), nil)
	}
	return kit.Deleted(err)
}

// monitorOf returns the identifier of the health check of a step. One that was created
// together with its load balancer is known by its pool only.
func monitorOf(c *change) (string, error) {
	if id := c.Step.Target.ID; id != "" {
		return id, nil
	}
	pool, err := getItem(c.Ctx, c.Session, model.PoolCodec(), c.Parent())
	if err == nil && pool.Monitor == "" {
		err = fault.New(fault.NotFound, "pool %s has no health monitor", pool.ID)
	}
	return pool.Monitor, err
}
