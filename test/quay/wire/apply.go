package wire

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/quay/model"
)

// change is one step at work.
type change = kit.Change[*Session]

// Apply performs steps, each with the function that the table has for it.
func (s *Session) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	return kit.Verbs[*Session]{
		{Kind: model.KindBalancer, Action: plan.Create}: kit.With(createBalancer),
		{Kind: model.KindBalancer, Action: plan.Update}: kit.With(updateBalancer),
		{Kind: model.KindBalancer, Action: plan.Delete}: deletePart,
		{Kind: model.KindOpening, Action: plan.Create}:  kit.With(createOpening),
		{Kind: model.KindOpening, Action: plan.Delete}:  deleteOpening,
		{Kind: model.KindMachines, Action: plan.Update}: kit.With(replaceMachines),
		{Kind: model.KindListener, Action: plan.Create}: kit.With(putListener),
		{Kind: model.KindListener, Action: plan.Update}: kit.With(putListener),
		{Kind: model.KindListener, Action: plan.Delete}: deletePart,
	}.Apply(ctx, s, b)
}

// work is the answer to a creation: a work request, with the load balancer once it has ended.
type work struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	Balancer string `json:"balancer"`
}

// createBalancer creates a load balancer and waits for its work request. The token lets the
// call be repeated: also the next process, which derives the same one, gets the same load
// balancer.
func createBalancer(c *change, b model.Balancer) plan.Outcome {
	s, o := c.Session, c.Step.ID.Owner
	body := model.BalancerCodec().Create(b, nil)
	body["mark"] = model.MarkOf(s.config, s.cluster, o)
	text, err := json.Marshal(body)
	if err != nil {
		return kit.Failed(fault.New(fault.Internal, "%s: %v", c.Step.ID, err))
	}
	var w work
	err = s.tokens.Send(o, c.Step.ID.String(), text, func(token string) error {
		return s.write(c.Ctx, request{method: http.MethodPost, path: "/balancers", body: body, header: map[string]string{"Idempotency-Token": token}}, &w)
	})
	if err != nil {
		return kit.Failed(err)
	}
	id, err := s.finish(c.Ctx, w)
	if err != nil {
		return plan.Outcome{Err: err, Sent: plan.MaybeSent}
	}
	return c.Created(id, stack.Tag, b)
}

// updateBalancer updates the changed fields only.
func updateBalancer(c *change, b model.Balancer) plan.Outcome {
	body := model.BalancerCodec().Update(b, c.Changed(), nil)
	return c.Updated(b, c.Session.change(c.Ctx, c.ID(), request{method: http.MethodPatch, path: "/balancers/" + c.ID(), body: body}))
}

func createOpening(c *change, o model.Opening) plan.Outcome {
	name := model.OpeningOf(c.Session.cluster, o.Protocol)
	if err := c.Session.write(c.Ctx, request{method: http.MethodPut, path: "/openings/" + name}, nil); err != nil {
		return kit.Failed(err)
	}
	return c.Created(name, stack.Name, o)
}

// deleteOpening deletes an opening, unless another Service has come to want it since the plan was
// computed.
func deleteOpening(c *change) plan.Outcome {
	if len(c.Batch.Claims.Others(c.Step.ID.Owner, c.Step.Target)) > 0 {
		return plan.Outcome{Sent: plan.WasSent}
	}
	return kit.Deleted(c.Session.write(c.Ctx, request{method: http.MethodDelete, path: "/openings/" + c.ID()}, nil))
}

func replaceMachines(c *change, m model.Machines) plan.Outcome {
	return c.Updated(m, c.Session.change(c.Ctx, c.Parent(), request{method: http.MethodPut, path: "/balancers/" + c.Parent() + "/machines", body: m.Names}))
}

// putListener creates or replaces a listener: the API makes no difference.
func putListener(c *change, l model.Listener) plan.Outcome {
	id := c.Parent() + "/listeners/" + model.SlotOf(l.Protocol, l.Port)
	if err := c.Session.change(c.Ctx, c.Parent(), request{method: http.MethodPut, path: "/balancers/" + id, body: model.ListenerCodec().Replace(l, nil)}); err != nil {
		return kit.Failed(err)
	}
	return c.Created(id, stack.Derived, l)
}

// deletePart deletes a load balancer, or a listener of one.
func deletePart(c *change) plan.Outcome {
	balancer := c.ID()
	if c.Step.Target.In != (stack.Key{}) {
		balancer = c.Parent()
	}
	return kit.Deleted(c.Session.change(c.Ctx, balancer, request{method: http.MethodDelete, path: "/balancers/" + c.ID()}))
}
