package wire

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/berth-lb/berth/providers"
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
		{Kind: model.KindBalancer, Action: update, Part: model.PartJoin}:    kit.With(changeGroups),
		{Kind: model.KindBalancer, Action: update, Part: model.PartLeave}:   kit.With(changeGroups),
		{Kind: model.KindListener, Action: create}:                          kit.With(createListener),
		{Kind: model.KindListener, Action: update}:                          kit.With(updateListener),
		{Kind: model.KindListener, Action: remove}:                          deleteListener,
		{Kind: model.KindRule, Action: create}:                              kit.With(createRule),
		{Kind: model.KindRule, Action: remove}:                              kit.With(deleteRule),
	}
}

// change makes a writing call about a load balancer, one at a time for each. It waits first
// until the write before has ended, and not for its own end: a later write does that.
func (s *Session) change(ctx context.Context, balancer string, r request, out any) error {
	return s.locks.Change(ctx, balancer,
		func() error {
			if _, busy := s.busy.Get(balancer, 0); busy {
				if err := s.settle(ctx, balancer); err != nil {
					return err
				}
			}
			if err := s.write(ctx, r, out); err != nil {
				return err
			}
			s.busy.Set(balancer, true)
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
	s.busy.Forget(balancer)
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
	return writeMembers(c, nil, method, body, out, path...)
}

// writeMembers is writePart for a call that has members: instances are in an account that the
// call must name.
func writeMembers(c *change, members []model.Member, method string, body, out any, path ...string) error {
	lb := parentOf(c)
	if lb == "" {
		return fault.New(fault.Internal, "%s: its load balancer is not known", c.Step.ID)
	}
	r := c.Session.vpc(method, body, append([]string{"load_balancers", lb}, path...)...)
	r.header = c.Session.accountOf(members)
	return c.Session.change(c.Ctx, lb, r, out)
}

// accountOf returns the header that names the account of instances among members.
// Source: IBM Cloud Kubernetes Service, network load balancers of worker nodes in the service account.
func (s *Session) accountOf(members []model.Member) map[string]string {
	if !slices.ContainsFunc(members, func(m model.Member) bool { return m.Instance != "" }) {
		return nil
	}
	return map[string]string{"x-instance-account-id": s.config.WorkerAccount}
}

// createBalancer creates a load balancer with all parts of the step in one call. Its answer
// has the host name, so that nothing waits until an application load balancer is active. A
// network load balancer gets the address that the status shows when it is.
func createBalancer(c *change, spec model.Balancer) plan.Outcome {
	s := c.Session
	group, err := s.resourceGroup(c.Ctx)
	if err != nil {
		return kit.Failed(err)
	}
	body := balancerBody(spec, group)
	names := map[stack.Key]string{}
	var members []model.Member
	for _, r := range c.Step.With {
		if p, ok := r.Spec.(model.Pool); ok {
			names[r.Key] = p.Name
			body.Pools = append(body.Pools, newPoolDoc{poolBody(p), memberBodies(p.Members)})
			members = append(members, p.Members...)
		}
	}
	for _, r := range c.Step.With {
		if l, ok := r.Spec.(model.Listener); ok {
			body.Listeners = append(body.Listeners, listenerBody(l, nameDoc{Name: names[l.Pool.To]}))
		}
	}
	r := s.vpc(http.MethodPost, body, "load_balancers")
	r.header = s.accountOf(members)
	var made balancerDoc
	if err := s.write(c.Ctx, r, &made); err != nil {
		return kit.Failed(err)
	}
	s.busy.Set(made.ID, true)
	if err := keepNote(c, made); err != nil {
		return plan.Outcome{Err: err, Sent: plan.MaybeSent}
	}
	o := c.Created(made.ID, stack.Name, s.addressed(c.Ctx, made, spec.Awaited || spec.Kind != model.ALB))
	o.Parts = partsMade(c, made, names)
	return o
}

// addressed returns a new load balancer, once it has addresses if they are awaited. One that is not
// waited for to the end is returned without.
func (s *Session) addressed(ctx context.Context, made balancerDoc, awaited bool) model.Balancer {
	spec := balancerSpec(made)
	if !awaited || len(spec.Addresses) > 0 || s.settle(ctx, made.ID) != nil {
		return spec
	}
	var active balancerDoc
	if _, err := s.read(ctx, s.vpc(http.MethodGet, nil, "load_balancers", made.ID), &active); err != nil {
		return spec
	}
	return balancerSpec(active)
}

// partsMade returns the parts that a load balancer was created with.
func partsMade(c *change, made balancerDoc, names map[stack.Key]string) []stack.Resource {
	var out []stack.Resource
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
		out = append(out, r)
	}
	return out
}

// keepNote notes the id of a load balancer whose name the Service chose: the name proves
// nothing.
func keepNote(c *change, made balancerDoc) error {
	o := c.Step.ID.Owner
	if c.Session.notes == nil || model.IsDefaultName(made.Name, c.Session.config.ClusterID, o) {
		return nil
	}
	return noteID(c.Ctx, c.Session.notes, o, made.ID)
}

func noteID(ctx context.Context, notes providers.Notes, o stack.Owner, id string) error {
	return notes.Change(ctx, o, model.NoteOf(o), func(map[string]string) map[string]string { return map[string]string{model.NoteID: id} })
}

// updateSubnets replaces the subnets of a load balancer. The API wants the version that was
// read, because it replaces the list as a whole.
func updateSubnets(c *change, spec model.Balancer) plan.Outcome {
	s, id := c.Session, c.ID()
	if _, busy := s.busy.Get(id, 0); busy {
		if err := s.settle(c.Ctx, id); err != nil {
			return kit.Failed(err)
		}
	}
	path := s.vpc(http.MethodGet, nil, "load_balancers", id)
	header, err := s.read(c.Ctx, path, nil)
	if err != nil {
		return kit.Failed(err)
	}
	r := s.vpc(http.MethodPatch, map[string]any{"subnets": idDocs(spec.Subnets)}, "load_balancers", id)
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
	c.Session.busy.Forget(id)
	return kit.Deleted(nil)
}

func createPool(c *change, spec model.Pool) plan.Outcome {
	var made poolDoc
	if err := writeMembers(c, spec.Members, http.MethodPost, newPoolDoc{poolBody(spec), memberBodies(spec.Members)}, &made, "pools"); err != nil {
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
	return c.Updated(spec, writeMembers(c, spec.Members, http.MethodPut, map[string]any{"members": memberBodies(spec.Members)}, nil, "pools", c.ID(), "members"))
}

func deletePool(c *change) plan.Outcome {
	return kit.Deleted(writePart(c, http.MethodDelete, nil, nil, "pools", c.ID()))
}

// changeGroups puts a load balancer into security groups, or takes it out of them.
// Source: VPC API reference, "Add a target to a security group".
func changeGroups(c *change, spec model.Balancer) plan.Outcome {
	id := c.ID()
	for _, ch := range c.Step.Changes {
		for method, groups := range map[string][]any{http.MethodPut: ch.Added, http.MethodDelete: ch.Removed} {
			for _, g := range groups {
				err := c.Session.change(c.Ctx, id, c.Session.vpc(method, nil, "security_groups", fmt.Sprint(g), "targets", id), nil)
				if err != nil {
					return kit.Failed(err)
				}
			}
		}
	}
	return c.Updated(spec, nil)
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
