package wire

import (
	"context"
	"slices"

	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/listeners"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/monitors"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/pools"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

func listenerOpts(l model.Listener) listeners.CreateOpts {
	limit := l.Limit
	opts := listeners.CreateOpts{
		Name: l.Name, Tags: l.Tags, Protocol: listeners.Protocol(l.Protocol), ProtocolPort: int(l.Port), ConnLimit: &limit, InsertHeaders: l.Headers,
		DefaultTlsContainerRef: l.TLS, AllowedCIDRs: l.Ranges,
	}
	if t := l.Timeouts; t.Known {
		opts.TimeoutClientData, opts.TimeoutMemberConnect, opts.TimeoutMemberData, opts.TimeoutTCPInspect = &t.ClientData, &t.MemberConnect, &t.MemberData, &t.Inspect
	}
	return opts
}

func createListener(c *change, spec model.Listener) plan.Outcome {
	if err := c.Session.mayTake(c, balancerOf(c), c.Step.ID.Key.Name); err != nil {
		return kit.Failed(err)
	}
	pool := c.Batch.ID(c.Step, spec.Pool)
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
	opts := listenerOpts(spec)
	opts.LoadbalancerID, opts.DefaultPoolID = balancer, pool
	err = s.change(ctx, balancer, func(ctx context.Context) error {
		made, err := listeners.Create(ctx, s.balancer, opts).Extract()
		if err == nil {
			id = made.ID
		}
		return err
	})
	return id, err
}

// updateListener updates all mutable fields; it retains tags of others.
func updateListener(c *change, spec model.Listener) plan.Outcome {
	limit, pool, tls, headers, ranges := spec.Limit, c.Batch.ID(c.Step, spec.Pool), spec.TLS, spec.Headers, spec.Ranges
	if headers == nil {
		headers = map[string]string{}
	}
	opts := listeners.UpdateOpts{Name: &spec.Name, ConnLimit: &limit, DefaultPoolID: &pool, InsertHeaders: &headers, DefaultTlsContainerRef: &tls}
	if found, ok := c.Step.Found.(model.Listener); ok {
		tags := append([]string{}, spec.Tags...)
		for _, t := range found.Tags {
			if !slices.Contains(tags, t) && !model.Renamed(t, c.Step.ID.Owner) {
				tags = append(tags, t)
			}
		}
		opts.Tags = &tags
		spec.Tags = tags
	}
	if ranges != nil {
		opts.AllowedCIDRs = &ranges
	}
	if t := spec.Timeouts; t.Known {
		opts.TimeoutClientData, opts.TimeoutMemberConnect, opts.TimeoutMemberData, opts.TimeoutTCPInspect = &t.ClientData, &t.MemberConnect, &t.MemberData, &t.Inspect
	}
	return c.Updated(spec, below(c, func(ctx context.Context) error {
		_, err := listeners.Update(ctx, c.Session.balancer, c.Step.Target.ID, opts).Extract()
		return err
	}))
}

func deleteListener(c *change) plan.Outcome {
	return kit.Deleted(below(c, func(ctx context.Context) error {
		return listeners.Delete(ctx, c.Session.balancer, c.Step.Target.ID).ExtractErr()
	}))
}

func poolOpts(p model.Pool) pools.CreateOpts {
	opts := pools.CreateOpts{Name: p.Name, Protocol: pools.Protocol(p.Protocol), LBMethod: pools.LBMethod(p.Algorithm)}
	if p.Sticky {
		opts.Persistence = &pools.SessionPersistence{Type: "SOURCE_IP"}
	}
	return opts
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
	opts := poolOpts(spec)
	opts.LoadbalancerID = balancer
	if spec.Claim != "" {
		opts.Tags = []string{model.ClaimTag(spec.Claim, s.now())}
	}
	err = s.change(ctx, balancer, func(ctx context.Context) error {
		made, err := pools.Create(ctx, s.balancer, opts).Extract()
		if err == nil {
			id = made.ID
		}
		return err
	})
	if err != nil {
		return "", nil, err
	}
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
	opts := pools.UpdateOpts{LBMethod: pools.LBMethod(spec.Algorithm), Persistence: &pools.SessionPersistence{}}
	if spec.Sticky {
		opts.Persistence.Type = "SOURCE_IP"
	}
	return c.Updated(spec, below(c, func(ctx context.Context) error {
		_, err := pools.Update(ctx, c.Session.balancer, c.Step.Target.ID, opts).Extract()
		return err
	}))
}

func deletePool(c *change) plan.Outcome {
	return kit.Deleted(c.Session.dropPool(c.Ctx, balancerOf(c), c.Step.Target.ID))
}

func (s *Session) dropPool(ctx context.Context, balancer, id string) error {
	return s.change(ctx, balancer, func(ctx context.Context) error { return pools.Delete(ctx, s.balancer, id).ExtractErr() })
}

func monitorOpts(m model.Monitor) monitors.CreateOpts {
	return monitors.CreateOpts{
		Name: m.Name, Type: m.Type, Delay: m.Delay, Timeout: m.Timeout, MaxRetries: m.Retries, MaxRetriesDown: m.RetriesDown,
		URLPath: m.Path, HTTPMethod: m.Method, ExpectedCodes: m.Codes,
	}
}

func createMonitor(c *change, spec model.Monitor) plan.Outcome {
	id, err := c.Session.postMonitor(c.Ctx, balancerOf(c), c.Parent(), spec)
	if err != nil {
		return kit.Failed(err)
	}
	return c.Created(id, stack.Derived, spec)
}

func (s *Session) postMonitor(ctx context.Context, balancer, pool string, spec model.Monitor) (id string, err error) {
	opts := monitorOpts(spec)
	opts.PoolID = pool
	err = s.change(ctx, balancer, func(ctx context.Context) error {
		made, err := monitors.Create(ctx, s.balancer, opts).Extract()
		if err == nil {
			id = made.ID
		}
		return err
	})
	return id, err
}

func updateMonitor(c *change, spec model.Monitor) plan.Outcome {
	opts := monitors.UpdateOpts{Delay: spec.Delay, Timeout: spec.Timeout, MaxRetries: spec.Retries, MaxRetriesDown: spec.RetriesDown}
	return c.Updated(spec, below(c, func(ctx context.Context) error {
		id, err := monitorOf(ctx, c)
		if err != nil {
			return err
		}
		_, err = monitors.Update(ctx, c.Session.balancer, id, opts).Extract()
		return err
	}))
}

func deleteMonitor(c *change) plan.Outcome {
	return kit.Deleted(below(c, func(ctx context.Context) error {
		id, err := monitorOf(ctx, c)
		if err != nil {
			return err
		}
		return monitors.Delete(ctx, c.Session.balancer, id).ExtractErr()
	}))
}

// monitorOf is the identifier of the health check of a step. One that was made together
// with its load balancer is known by its pool only.
func monitorOf(ctx context.Context, c *change) (string, error) {
	if id := c.Step.Target.ID; id != "" {
		return id, nil
	}
	pool, err := pools.Get(ctx, c.Session.balancer, c.Parent()).Extract()
	if err != nil {
		return "", err
	}
	return pool.MonitorID, nil
}
