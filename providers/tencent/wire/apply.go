package wire

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/tencent/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// change is one step at work.
type change = kit.Change[*Session]

// Apply performs the steps of one batch and returns one outcome for each. Steps of listeners, rules
// and targets of one load balancer share calls.
func (s *Session) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	for prefix, run := range map[string]func([]*change) []plan.Outcome{
		model.BatchListeners: createListeners, model.BatchDropped: deleteListeners, model.BatchRules: createRules, model.BatchTargets: updateTargets,
	} {
		if strings.HasPrefix(b.Key, prefix) {
			var all []*change
			for _, step := range b.Steps {
				all = append(all, &change{Session: s, Ctx: ctx, Batch: b, Step: step})
			}
			return run(all)
		}
	}
	return verbTable().Apply(ctx, s, b)
}

// verbTable is the table of writing calls for single steps.
func verbTable() kit.Verbs[*Session] {
	create, update, remove := plan.Create, plan.Update, plan.Delete
	return kit.Verbs[*Session]{
		{Kind: model.KindBalancer, Action: create}:                             kit.With(createBalancer),
		{Kind: model.KindBalancer, Action: update, Part: model.PartAttributes}: kit.With(updateAttributes),
		{Kind: model.KindBalancer, Action: update, Part: model.PartGroups}:     kit.With(updateGroups),
		{Kind: model.KindBalancer, Action: remove}:                             deleteBalancer,
		{Kind: model.KindListener, Action: update}:                             kit.With(updateListener),
		{Kind: model.KindRule, Action: update}:                                 kit.With(updateRule),
		{Kind: model.KindRule, Action: update, Part: model.PartCertificate}:    kit.With(updateDomain),
		{Kind: model.KindRule, Action: remove}:                                 deleteRule,
		{Kind: model.KindClaim, Action: create}:                                kit.With(writeClaim),
		{Kind: model.KindClaim, Action: update}:                                kit.With(writeClaim),
		{Kind: model.KindClaim, Action: remove}:                                deleteClaim,
	}
}

// recordSoon is how long the record of a region on the Service is waited for.
const recordSoon = time.Second

// createBalancer creates a load balancer and waits until clients can reach it. In another region than that of the
// cluster it waits until the Service carries that region: a later process finds the load balancer by it.
func createBalancer(c *change, spec model.Balancer) plan.Outcome {
	s := c.Session
	if spec.Unrecorded {
		return kit.Failed(&fault.Fault{Meaning: fault.Pending, After: recordSoon, Text: "the region " + spec.Region + " is recorded on the Service first"})
	}
	p := balancerParams(spec)
	var made struct {
		IDs []string `json:"LoadBalancerIds"`
	}
	var task string
	// The token follows from the Service and the region alone: a process that has lost the answer gets
	// the same load balancer, even if other annotations have changed since.
	err := s.tokens.Send(c.Step.ID.Owner, c.Step.ID.String(), []byte(spec.Region), func(token string) (err error) {
		p["ClientToken"] = token
		task, err = s.write(c.Ctx, spec.Region, actCreateBalancer, p, &made)
		return err
	})
	if err != nil {
		return kit.Failed(err)
	}
	if len(made.IDs) == 0 {
		if made.IDs, err = s.ordered(c.Ctx, task); err != nil {
			return kit.Failed(err)
		}
	}
	id := model.IDIn(spec.Region, made.IDs[0])
	s.regions.place(c.Step.ID.Owner.UID, id)
	if _, err := s.created.Wait(c.Ctx, id); err != nil {
		return kit.Failed(&fault.Fault{Meaning: fault.Ambiguous, Text: "stopped before the load balancer " + id + " was created", Err: err})
	}
	return c.Created(id, stack.Tag, s.takeSeen(id).spec())
}

// ordered waits for a slow order and returns the ids of its load balancers.
func (s *Session) ordered(ctx context.Context, task string) ([]string, error) {
	if err := s.finish(ctx, task); err != nil {
		return nil, err
	}
	got, err := s.task(ctx, task)
	if err == nil && len(got.Balancers) == 0 {
		err = fault.New(fault.Ambiguous, "the task %s names no load balancer", task)
	}
	return got.Balancers, err
}

// balancerParams returns the parameters of a new load balancer. Empty ones are left out.
func balancerParams(spec model.Balancer) params {
	out := params{}
	if spec.Extra != "" {
		_ = json.Unmarshal([]byte(spec.Extra), &out) // JSON by construction
	}
	maps.Copy(out, params{"LoadBalancerType": spec.Type, "Forward": 1, "Number": 1, "Tags": tagDocs(spec.Tags)})
	for name, value := range map[string]string{"LoadBalancerName": spec.Name, "VpcId": spec.VPC, "SubnetId": spec.Subnet} {
		if value != "" {
			out[name] = value
		}
	}
	if spec.IPVersion != "" && spec.IPVersion != "IPV4" {
		out["AddressIPVersion"] = spec.IPVersion
	}
	network := params{}
	if spec.ChargeType != "" {
		network["InternetChargeType"] = spec.ChargeType
	}
	if spec.Bandwidth > 0 {
		network["InternetMaxBandwidthOut"] = spec.Bandwidth
	}
	if len(network) > 0 {
		out["InternetAccessible"] = network
	}
	if spec.PassToTarget != "" {
		out["LoadBalancerPassToTarget"] = spec.PassToTarget == "true"
	}
	return out
}

func tagDocs(tags map[string]string) []tagDoc {
	out := []tagDoc{}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, tagDoc{key, tags[key]})
	}
	return out
}

// updateAttributes changes the bandwidth and which security groups count.
func updateAttributes(c *change, spec model.Balancer) plan.Outcome {
	p := params{}
	if c.Step.Touches("PassToTarget") {
		p["LoadBalancerPassToTarget"] = spec.PassToTarget == "true"
	}
	if c.Step.Touches("Bandwidth") {
		p["InternetChargeInfo"] = params{"InternetMaxBandwidthOut": spec.Bandwidth}
	}
	return c.Updated(spec, c.Session.change(c.Ctx, c.ID(), actSetBalancer, p, nil))
}

func updateGroups(c *change, spec model.Balancer) plan.Outcome {
	return c.Updated(spec, c.Session.change(c.Ctx, c.ID(), actSetGroups, params{"SecurityGroups": spec.Groups}, nil))
}

// deleteBalancer deletes a load balancer. The cloud refuses the deletion of one with targets that may
// be in use, so these are removed before; nothing is forced.
// Source: CLB API 2018-03-17, DeleteLoadBalancer.
func deleteBalancer(c *change) plan.Outcome {
	s, id := c.Session, c.ID()
	bound, err := s.allTargets(c.Ctx, id)
	if err != nil {
		return kit.Deleted(err)
	}
	for part := range slices.Chunk(bound, mostTargets) {
		if err := s.changeLater(c.Ctx, id, actDeregister, params{"Targets": part}, nil); err != nil && !fault.Is(err, fault.NotFound) {
			return kit.Deleted(err)
		}
	}
	region, plain := model.SplitID(id)
	err = s.locks.Change(c.Ctx, id,
		func() error {
			if err := s.awaitEarlier(c.Ctx, id); err != nil {
				return err
			}
			_, err := s.write(c.Ctx, region, actDeleteBalancer, params{"LoadBalancerIds": []string{plain}}, nil)
			return err
		},
		func(refusal error) error {
			if fault.Is(refusal, fault.Pending) {
				return nil
			}
			return refusal
		},
		func() error {
			if _, err := s.removed.Wait(c.Ctx, id); err != nil {
				return &fault.Fault{Meaning: fault.Ambiguous, Text: "stopped before the deletion had ended", Err: err}
			}
			return nil
		})
	if err != nil && len(bound) > 0 && !fault.Is(err, fault.NotFound) {
		return plan.Outcome{Err: err, Sent: plan.MaybeSent}
	}
	return kit.Deleted(err)
}

// allTargets returns all targets of a load balancer as parameters.
func (s *Session) allTargets(ctx context.Context, balancer string) ([]params, error) {
	var got struct {
		Listeners *[]boundDoc `json:"Listeners"`
	}
	if err := s.readOf(ctx, balancer, actListTargets, params{}, &got); err != nil {
		return nil, err
	}
	if got.Listeners == nil {
		return nil, fault.New(fault.Unavailable, "the answer of %s has no list", actListTargets)
	}
	var out []params
	for _, d := range *got.Listeners {
		for _, m := range membersOf(d.Targets) {
			out = append(out, targetParams(m, d.ID, "", false))
		}
		for _, r := range d.Rules {
			for _, m := range membersOf(r.Targets) {
				out = append(out, targetParams(m, d.ID, r.ID, false))
			}
		}
	}
	return out, nil
}

// writeClaim notes the listeners of a Service on an existing load balancer. It makes no call to the
// cloud.
func writeClaim(c *change, spec model.Claim) plan.Outcome {
	if err := c.Session.note(c.Ctx, c.Step.ID.Owner, spec.Balancer, func([]string) []string { return spec.Listeners }); err != nil {
		return kit.Failed(err)
	}
	return c.Created(model.NoteOf(c.Step.ID.Owner), stack.Derived, spec)
}

// deleteClaim empties the note, which the API server deletes with the Service.
func deleteClaim(c *change) plan.Outcome {
	return kit.Deleted(c.Session.note(c.Ctx, c.Step.ID.Owner, "", func([]string) []string { return nil }))
}

// note changes the ids that a Service has noted.
func (s *Session) note(ctx context.Context, o stack.Owner, balancer string, change func([]string) []string) error {
	if s.notes == nil {
		return nil
	}
	var ids []string
	err := s.notes.Change(ctx, o, model.NoteOf(o), func(note map[string]string) map[string]string {
		ids = strings.FieldsFunc(note[model.NoteListeners], func(r rune) bool { return r == ',' })
		if note[model.NoteBalancer] != balancer {
			ids = nil
		}
		ids = slices.Sorted(slices.Values(change(ids)))
		return map[string]string{model.NoteBalancer: balancer, model.NoteListeners: strings.Join(slices.Compact(ids), ",")}
	})
	if err == nil {
		s.enterNoted(o, slices.Values(ids))
	}
	return err
}
