package wire

import (
	"context"
	"net/http"
	"strings"

	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/providers/fault"
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
		{Kind: model.KindBalancer, Action: create}:                           kit.With(createBalancer),
		{Kind: model.KindBalancer, Action: update, Part: model.PartBinding}:  kit.With(bindAddress),
		{Kind: model.KindBalancer, Action: remove}:                           deleteBalancer,
		{Kind: model.KindAddress, Action: create}:                            kit.With(createAddress),
		{Kind: model.KindAddress, Action: update, Part: model.PartBandwidth}: kit.With(resizeAddress),
		{Kind: model.KindAddress, Action: remove}:                            deleteAddress,
		{Kind: model.KindGroup, Action: create}:                              kit.With(createGroup),
		{Kind: model.KindGroup, Action: update, Part: model.PartMembers}:     kit.With(updateServers),
		{Kind: model.KindGroup, Action: remove}:                              deleteGroup,
		{Kind: model.KindPool, Action: create}:                               kit.With(createPool),
		{Kind: model.KindPool, Action: update, Part: model.PartMembers}:      kit.With(updateAddresses),
		{Kind: model.KindPool, Action: remove}:                               deletePool,
		{Kind: model.KindTarget, Action: create}:                             kit.With(createTarget),
		{Kind: model.KindTarget, Action: update}:                             kit.With(updateTarget),
		{Kind: model.KindTarget, Action: remove}:                             deleteTarget,
		{Kind: model.KindListener, Action: create}:                           kit.With(createListener),
		{Kind: model.KindListener, Action: update}:                           kit.With(updateListener),
		{Kind: model.KindListener, Action: remove}:                           deleteListener,
		{Kind: model.KindPolicy, Action: create}:                             kit.With(createPolicy),
		{Kind: model.KindPolicy, Action: remove}:                             deletePolicy,
		{Kind: model.KindBackends, Action: update, Part: model.PartMembers}:  kit.With(updateBackends),
		{Kind: model.KindClaim, Action: create}:                              kit.With(writeClaim),
		{Kind: model.KindClaim, Action: update}:                              kit.With(writeClaim),
		{Kind: model.KindClaim, Action: remove}:                              deleteClaim,
	}
}

// balancerOf returns the id of the load balancer that a step is about.
func balancerOf(c *change) string {
	switch spec := c.Step.Target.Spec.(type) {
	case model.Balancer:
		return c.ID()
	case model.Target:
		return c.Resolve(stack.RefTo(spec.Balancer))
	case model.Policy:
		return c.Resolve(stack.RefTo(spec.Balancer))
	}
	return c.Parent()
}

// writePart makes a writing call about a part of the step's load balancer.
func writePart(c *change, method, path string, body any, parameters ...string) error {
	lb := balancerOf(c)
	return c.Session.change(c.Ctx, lb, newRequest(apiBLB, method, c.Session.root(lb)+"/"+lb+"/"+path, body, parameters...), nil)
}

// createPart creates a part of the step's load balancer. It has no token: a listener has one place, and a
// second group with the mark of the Service is deleted.
func createPart(c *change, path string, body, out any) error {
	lb := balancerOf(c)
	return c.Session.change(c.Ctx, lb, newRequest(apiBLB, http.MethodPost, c.Session.root(lb)+"/"+lb+"/"+path, body), out)
}

// codeStale marks the answer of a creation that names a resource which was deleted since.
const codeStale = "Berth.StaleToken"

// createOnce makes a creating call that is about no load balancer yet, and waits until what it has created is
// ready. The token follows from the Service alone: a process that has lost the answer gets the same
// resource. One that was deleted since is created with the next token.
func createOnce(c *change, api, path string, body, out any, created func() (id string, wait *kit.Settling)) error {
	return c.Session.tokens.Send(c.Step.ID.Owner, c.Step.ID.String(), nil, func(token string) error {
		if err := c.Session.write(c.Ctx, newRequest(api, http.MethodPost, path, body, "clientToken", token), out); err != nil {
			return err
		}
		id, wait := created()
		if id == "" {
			return fault.New(fault.Ambiguous, "the answer of %s names nothing new", path)
		}
		c.Session.noteFresh(id)
		state, err := wait.Wait(c.Ctx, id)
		switch {
		case err != nil:
			return &fault.Fault{Meaning: fault.Ambiguous, Text: "stopped before " + id + " was created", Err: err}
		case state == stateGone:
			return &fault.Fault{Meaning: fault.Conflict, Code: codeStale, Text: id + " was deleted since it was created"}
		}
		return nil
	})
}

// createBalancer creates a load balancer that is bound to its public address.
func createBalancer(c *change, spec model.Balancer) plan.Outcome {
	body := balancerDoc{Name: spec.Name, Description: spec.Description, VPC: spec.VPC, Subnet: spec.Subnet, Tags: tagDocs(spec.Tags), EIP: c.Resolve(spec.EIP)}
	var made balancerDoc
	err := createOnce(c, apiBLB, rootApp, body, &made, func() (string, *kit.Settling) { return made.ID, c.Session.changes })
	if err != nil {
		return kit.Failed(err)
	}
	body.ID, body.Address = made.ID, made.Address
	c.Session.noteCreated(body)
	spec.Address = made.Address
	return c.Created(made.ID, stack.Tag, spec)
}

// bindAddress binds a load balancer to another public address.
func bindAddress(c *change, spec model.Balancer) plan.Outcome {
	s, id := c.Session, c.ID()
	found, _ := c.Step.Found.(model.Balancer)
	if old := c.Resolve(found.EIP); old != "" {
		err := s.change(c.Ctx, id, newRequest(apiEIP, http.MethodPut, rootEIP+"/"+old, nil, "unbind", ""), nil)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return kit.Failed(err)
		}
	}
	to := c.Resolve(spec.EIP)
	if spec.EIP.IsZero() {
		return c.Updated(spec, nil)
	}
	if to == "" {
		return kit.Failed(fault.New(fault.Internal, "%s: its public address is not known", c.Step.ID))
	}
	if _, err := s.free.Wait(c.Ctx, to); err != nil {
		return kit.Failed(stoppedError(err))
	}
	body := map[string]string{"instanceType": "BLB", "instanceId": id}
	return c.Updated(spec, s.change(c.Ctx, id, newRequest(apiEIP, http.MethodPut, rootEIP+"/"+to, body, "bind", ""), nil))
}

// deleteBalancer deletes a load balancer with its parts, which frees its public address, and waits until
// two looks have not found it.
func deleteBalancer(c *change) plan.Outcome {
	s, id := c.Session, c.ID()
	if id == "" {
		return kit.Deleted(fault.New(fault.Internal, "%s: its load balancer is not known", c.Step.ID))
	}
	if err := s.change(c.Ctx, id, newRequest(apiBLB, http.MethodDelete, rootApp+"/"+id, nil), nil); err != nil {
		return kit.Deleted(err)
	}
	s.noteDeleted(id)
	if _, err := s.gone.Wait(c.Ctx, id); err != nil {
		return plan.Outcome{Err: &fault.Fault{Meaning: fault.Ambiguous, Text: "stopped before the deletion had ended", Err: err}, Sent: plan.MaybeSent}
	}
	s.setRunning(id, false)
	return kit.Deleted(nil)
}

// createAddress buys a public address and waits until it can be bound.
func createAddress(c *change, spec model.Address) plan.Outcome {
	var made struct {
		Address string `json:"eip"`
	}
	err := createOnce(c, apiEIP, rootEIP, newAddress(spec), &made, func() (string, *kit.Settling) { return made.Address, c.Session.free })
	if err != nil {
		return kit.Failed(err)
	}
	return c.Created(made.Address, stack.Tag, spec)
}

func resizeAddress(c *change, spec model.Address) plan.Outcome {
	err := c.Session.write(c.Ctx, newRequest(apiEIP, http.MethodPut, rootEIP+"/"+c.ID(), map[string]int{"newBandwidthInMbps": spec.Bandwidth}, "resize", ""), nil)
	return c.Updated(spec, err)
}

// deleteAddress deletes a public address. One that is still bound, to a load balancer that stays, is
// unbound before.
func deleteAddress(c *change) plan.Outcome {
	s, address := c.Session, c.ID()
	if address == "" {
		return kit.Deleted(fault.New(fault.Internal, "%s: its EIP is not known", c.Step.ID))
	}
	state, err := s.free.Wait(c.Ctx, address)
	if err != nil {
		return kit.Deleted(stoppedError(err))
	}
	if strings.HasPrefix(state, stateBound) {
		if err := s.unbind(c.Ctx, address, strings.TrimPrefix(state, stateBound)); err != nil {
			return kit.Deleted(err)
		}
	}
	err = s.write(c.Ctx, newRequest(apiEIP, http.MethodDelete, rootEIP+"/"+address, nil), nil)
	if err == nil {
		s.noteDeleted(address)
	}
	return kit.Deleted(err)
}

// unbind frees an address from a load balancer, and waits for it.
func (s *Session) unbind(ctx context.Context, address, balancer string) error {
	r := newRequest(apiEIP, http.MethodPut, rootEIP+"/"+address, nil, "unbind", "")
	if err := s.change(ctx, balancer, r, nil); err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if _, err := s.free.Wait(ctx, address); err != nil {
		return stoppedError(err)
	}
	return nil
}

// writeClaim notes the listeners of a Service on an existing normal load balancer. It makes no call to
// the cloud.
func writeClaim(c *change, spec model.Claim) plan.Outcome {
	err := c.Session.note(c.Ctx, c.Step.ID.Owner, func(map[string]string) map[string]string {
		return map[string]string{model.NoteBalancer: spec.Balancer, model.NoteListeners: strings.Join(spec.Listeners, ",")}
	})
	if err != nil {
		return kit.Failed(err)
	}
	return c.Created(model.NoteOf(c.Step.ID.Owner), stack.Derived, spec)
}

// deleteClaim empties the note, which the API server deletes with the Service.
func deleteClaim(c *change) plan.Outcome {
	return kit.Deleted(c.Session.note(c.Ctx, c.Step.ID.Owner, func(map[string]string) map[string]string { return map[string]string{} }))
}

func (s *Session) note(ctx context.Context, o stack.Owner, change func(map[string]string) map[string]string) error {
	if s.notes == nil {
		return nil
	}
	return s.notes.Change(ctx, o, model.NoteOf(o), change)
}
