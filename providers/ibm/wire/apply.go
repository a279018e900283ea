package wire

import (
	"context"
	"net/http"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/ibm/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// change is one step at work.
type change = kit.Change[*Session]

// Apply performs the steps of one batch and returns one outcome for each.
func (s *Session) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	return verbTable().Apply(ctx, s, b)
}

// verbTable is the table of all writing calls.
func verbTable() kit.Verbs[*Session] {
	create, update, remove := plan.Create, plan.Update, plan.Delete
	return kit.Verbs[*Session]{
		{Kind: model.KindBalancer, Action: create}:                          kit.With(createBalancer),
		{Kind: model.KindBalancer, Action: update, Part: model.PartSubnets}: kit.With(updateSubnets),
		{Kind: model.KindBalancer, Action: remove}:                          deleteBalancer,
		{Kind: model.KindPool, Action: create}:                              kit.With(createPool),
		{Kind: model.KindPool, Action: update}:                              kit.With(updatePool),
		{Kind: model.KindPool, Action: update, Part: model.PartMembers}:     kit.With(replaceMembers),
		{Kind: model.KindPool, Action: remove}:                              deletePool,
		{Kind: model.KindListener, Action: create}:                          kit.With(createListener),
		{Kind: model.KindListener, Action: update}:                          kit.With(updateListener),
		{Kind: model.KindListener, Action: remove}:                          deleteListener,
	}
}

// change makes a writing call about a load balancer, one at a time for each. It waits first
// until the write before has ended, and not for its own end: a later write does that.
func (s *Session) change(ctx context.Context, balancer string, r request, out any) error {
	return s.locks.Change(ctx, balancer,
		func() error {
			if s.isBusy(balancer) {
				if err := s.settle(ctx, balancer); err != nil {
					return err
				}
			}
			if err := s.write(ctx, r, out); err != nil {
				return err
			}
			s.noteBusy(balancer)
			return nil
		},
		func(refusal error) error {
			if !fault.Is(refusal, fault.Pending) || s.settle(ctx, balancer) != nil {
				return refusal
			}
			return nil
		},
		func() error { return nil })
}

// settle waits until a load balancer is not busy any more.
func (s *Session) settle(ctx context.Context, balancer string) error {
	state, err := s.settling.Wait(ctx, balancer)
	switch {
	case err != nil:
		return &fault.Fault{Meaning: fault.Unavailable, Text: "stopped before it was sent", Err: err}
	case state == gone:
		return fault.New(fault.NotFound, "the load balancer %s does not exist any more", balancer)
	case state == failed:
		return fault.New(fault.Conflict, "the load balancer %s has failed", balancer)
	}
	s.noteReady(balancer)
	return nil
}

// parentOf returns the id of the load balancer that a step is about.
func parentOf(c *change) string {
	if c.Step.Target.In == (stack.Key{}) {
		return c.ID()
	}
	return c.Parent()
}

// writePart makes a writing call about a part of the step's load balancer.
func writePart(c *change, method string, body, out any, path ...string) error {
	lb := parentOf(c)
	if lb == "" {
		return fault.New(fault.Internal, "%s: its load balancer is not known", c.Step.ID)
	}
	return c.Session.change(c.Ctx, lb, c.Session.vpc(method, body, append([]string{"load_balancers", lb}, path...)...), out)
}

// createBalancer creates a load balancer with all parts of the step in one call. Its answer
// has the host name; nothing waits until it is active.
func createBalancer(c *change, spec model.Balancer) plan.Outcome {
	s := c.Session
	group, err := s.resourceGroup(c.Ctx)
	if err != nil {
		return kit.Failed(err)
	}
	subnets := []idDoc{}
	for _, id := range spec.Subnets {
		subnets = append(subnets, idDoc{id})
	}
	pools, listeners := []newPoolDoc{}, []listenerDoc{}
	names := map[stack.Key]string{}
	for _, r := range c.Step.With {
		if p, ok := r.Spec.(model.Pool); ok {
			names[r.Key] = p.Name
			pools = append(pools, newPoolDoc{poolBody(p), memberBodies(p.Members)})
		}
	}
	for _, r := range c.Step.With {
		if l, ok := r.Spec.(model.Listener); ok {
			listeners = append(listeners, listenerBody(l, nameDoc{Name: names[l.Pool.To]}))
		}
	}
	body := map[string]any{
		"name": spec.Name, "is_public": spec.Public, "subnets": subnets, "resource_group": idDoc{group}, "pools": pools, "listeners": listeners,
	}
	var made balancerDoc
	if err := s.write(c.Ctx, s.vpc(http.MethodPost, body, "load_balancers"), &made); err != nil {
		return kit.Failed(err)
	}
	s.noteBusy(made.ID)
	if err := keepNote(c, made); err != nil {
		return plan.Outcome{Err: err, Sent: plan.MaybeSent}
	}
	o := c.Created(made.ID, stack.Name, balancerSpec(made))
	for _, r := range c.Step.With {
		r.Proof = stack.Derived
		for _, p := range made.Pools {
			if p.Name == names[r.Key] {
				r.ID = p.ID
			}
		}
		if _, ok := r.Spec.(model.Listener); ok {
			r.ID = listenerPrefix + r.Key.Name
		}
		o.Parts = append(o.Parts, r)
	}
	return o
}

// keepNote notes the id of a load balancer whose name the Service chose: the name proves
// nothing.
func keepNote(c *change, made balancerDoc) error {
	o := c.Step.ID.Owner
	if c.Session.notes == nil || model.IsDefaultName(made.Name, c.Session.config.ClusterID, o) {
		return nil
	}
	return c.Session.notes.Change(c.Ctx, o, model.NoteOf(o), func(map[string]string) map[string]string {
		return map[string]string{model.NoteID: made.ID}
	})
}

// updateSubnets replaces the subnets of a load balancer. The API wants the version that was
// read, because it replaces the list as a whole.
func updateSubnets(c *change, spec model.Balancer) plan.Outcome {
	s, id := c.Session, c.ID()
	if s.isBusy(id) {
		if err := s.settle(c.Ctx, id); err != nil {
			return kit.Failed(err)
		}
	}
	path := s.vpc(http.MethodGet, nil, "load_balancers", id)
	header, err := s.read(c.Ctx, path, nil)
	if err != nil {
		return kit.Failed(err)
	}
	subnets := []idDoc{}
	for _, sub := range spec.Subnets {
		subnets = append(subnets, idDoc{sub})
	}
	r := s.vpc(http.MethodPatch, map[string]any{"subnets": subnets}, "load_balancers", id)
	r.header = map[string]string{"If-Match": header.Get("ETag")}
	return c.Updated(spec, s.change(c.Ctx, id, r, nil))
}

// deleteBalancer deletes a load balancer and waits until it does not exist any more: its
// subnets and its name are in use until then.
func deleteBalancer(c *change) plan.Outcome {
	id := c.ID()
	if err := writePart(c, http.MethodDelete, nil, nil); err != nil {
		return kit.Deleted(err)
	}
	state, err := c.Session.settling.Wait(c.Ctx, id)
	switch {
	case err != nil:
		return plan.Outcome{Err: &fault.Fault{Meaning: fault.Ambiguous, Text: "stopped before the deletion had ended", Err: err}, Sent: plan.MaybeSent}
	case state != gone:
		return plan.Outcome{Err: fault.New(fault.Ambiguous, "the load balancer %s is %s after its deletion was accepted", id, state), Sent: plan.MaybeSent}
	}
	c.Session.noteReady(id)
	return kit.Deleted(nil)
}

func createPool(c *change, spec model.Pool) plan.Outcome {
	var made poolDoc
	if err := writePart(c, http.MethodPost, newPoolDoc{poolBody(spec), memberBodies(spec.Members)}, &made, "pools"); err != nil {
		return kit.Failed(err)
	}
	return c.Created(made.ID, stack.Derived, spec)
}

// updatePool changes the name, which tells the node port, the health check and the PROXY
// protocol.
func updatePool(c *change, spec model.Pool) plan.Outcome {
	body := poolDoc{Name: spec.Name, Proxy: spec.Proxy, Health: healthBody(spec.Health)}
	return c.Updated(spec, writePart(c, http.MethodPatch, body, nil, "pools", c.ID()))
}

// replaceMembers writes all members of a pool in one call.
func replaceMembers(c *change, spec model.Pool) plan.Outcome {
	return c.Updated(spec, writePart(c, http.MethodPut, map[string]any{"members": memberBodies(spec.Members)}, nil, "pools", c.ID(), "members"))
}

func deletePool(c *change) plan.Outcome {
	return kit.Deleted(writePart(c, http.MethodDelete, nil, nil, "pools", c.ID()))
}

func createListener(c *change, spec model.Listener) plan.Outcome {
	var made listenerDoc
	if err := writePart(c, http.MethodPost, listenerBody(spec, nameDoc{ID: c.Batch.ID(c.Step, spec.Pool)}), &made, "listeners"); err != nil {
		return kit.Failed(err)
	}
	return c.Created(made.ID, stack.Derived, spec)
}

func updateListener(c *change, spec model.Listener) plan.Outcome {
	id, err := listenerID(c)
	if err != nil {
		return kit.Failed(err)
	}
	body := map[string]any{"idle_connection_timeout": spec.Idle}
	if pool := c.Batch.ID(c.Step, spec.Pool); pool != "" {
		body["default_pool"] = idDoc{pool}
	}
	return c.Updated(spec, writePart(c, http.MethodPatch, body, nil, "listeners", id))
}

func deleteListener(c *change) plan.Outcome {
	id, err := listenerID(c)
	if err != nil {
		return kit.Deleted(err)
	}
	return kit.Deleted(writePart(c, http.MethodDelete, nil, nil, "listeners", id))
}
