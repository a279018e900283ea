package wire

import (
	"slices"
	"sort"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/tencent/model"
	"github.com/berth-lb/berth/stack/plan"
)

// mostTargets is how many targets one call takes. Source: CLB API 2018-03-17, BatchRegisterTargets.
const mostTargets = 500

// place is the listener or rule of a step of targets.
type place struct {
	*change
	listener, rule     string
	add, remove, weigh []model.Member
	refused            []plan.Refusal
	err                error
	sent               bool
}

// updateTargets changes the targets of listeners and rules of one load balancer: new ones are added
// before others are removed.
func updateTargets(all []*change) []plan.Outcome {
	places := make([]*place, len(all))
	for i, c := range all {
		places[i] = placeOf(c, c.ID())
	}
	registerAll(places)
	removeAll(places)
	weighAll(places)
	out := make([]plan.Outcome, len(all))
	for i, p := range places {
		switch {
		case p.err != nil && p.sent:
			out[i] = plan.Outcome{Err: p.err, Sent: plan.MaybeSent}
		case p.err != nil:
			out[i] = kit.Failed(p.err)
		default:
			out[i] = p.Members(p.refused, nil)
		}
	}
	return out
}

// placeOf returns the place of a step about the listener or rule with an id.
func placeOf(c *change, id string) *place {
	p := &place{change: c, listener: id}
	p.add, p.remove, p.weigh = model.SplitMembers(membersOfSpec(c.Step.Target.Spec), membersOfSpec(c.Step.Found))
	if c.Step.ID.Action == plan.Create {
		p.add, p.remove, p.weigh = membersOfSpec(c.Step.Target.Spec), nil, nil
	}
	if _, ok := c.Step.Target.Spec.(model.Rule); ok {
		p.listener, p.rule = c.Parent(), id
	}
	return p
}

// batchAnswer is the answer of a call about targets of several listeners.
type batchAnswer struct {
	Failed  []string `json:"FailListenerIdSet"`
	Message string   `json:"Message"`
}

// send makes a call about some targets of the place alone.
func (p *place) send(action string, some []model.Member) error {
	return p.sendAll(action, p.params(some))
}

func (p *place) params(some []model.Member) []params {
	var out []params
	for _, m := range some {
		out = append(out, targetParams(m, p.listener, p.rule, true))
	}
	return out
}

// sendAll makes a call about targets. Where the answer names listeners that failed, the call was about
// members of which some are not possible.
func (p *place) sendAll(action string, targets []params) error {
	var got batchAnswer
	err := p.Session.changeLater(p.Ctx, balancerOf(p.change), action, params{"Targets": targets}, &got)
	if err == nil && len(got.Failed) > 0 {
		return &fault.Fault{Meaning: fault.Invalid, Text: got.Message, OfSome: true}
	}
	return err
}

// registerAll registers the new targets of all places, in as few calls as possible. Where some of a
// call are refused, each place is tried alone.
func registerAll(places []*place) {
	var targets []params
	var of []*place
	flush := func() {
		if len(targets) == 0 {
			return
		}
		err := of[0].sendAll(actRegister, targets)
		for _, p := range of {
			if err != nil && fault.OfMember(err) {
				p.registerAlone()
				continue
			}
			p.note(err)
		}
		targets, of = nil, nil
	}
	for _, p := range places {
		if len(targets)+len(p.add) > mostTargets {
			flush()
		}
		switch {
		case len(p.add) > mostTargets:
			p.registerAlone()
		case len(p.add) > 0:
			targets, of = append(targets, p.params(p.add)...), append(of, p)
		}
	}
	flush()
}

// registerAlone registers the new targets of a place that it does not have yet: those of a refused
// call may be among them.
func (p *place) registerAlone() {
	bound, err := p.Session.boundTo(p.Ctx, balancerOf(p.change), []string{p.listener})
	if err != nil {
		p.note(err)
		return
	}
	has := bound[p.listener]
	if p.rule != "" {
		has = bound[p.rule]
	}
	missing, _, _ := model.SplitMembers(p.add, has)
	for part := range slices.Chunk(missing, mostTargets) {
		refused, err := kit.Split(part, nil, func(some []model.Member) error { return p.send(actRegister, some) })
		p.refused = append(p.refused, refused...)
		p.note(err)
	}
}

// note records the result of a call.
func (p *place) note(err error) {
	if err == nil {
		p.sent = true
	} else if p.err == nil {
		p.err = err
	}
}

// removeAll removes the targets that are not wanted any more. A quota that was exceeded before may
// have room afterwards.
func removeAll(places []*place) {
	var targets []params
	var of []*place
	for _, p := range places {
		if len(p.remove) > 0 && (p.err == nil || fault.Is(p.err, fault.Quota)) {
			targets, of = append(targets, p.params(p.remove)...), append(of, p)
		}
	}
	for part := range slices.Chunk(targets, mostTargets) {
		err := of[0].sendAll(actDeregister, part)
		if fault.Is(err, fault.NotFound) {
			err = nil
		}
		for _, p := range of {
			if err == nil && fault.Is(p.err, fault.Quota) {
				p.err = nil
				p.registerAlone()
				continue
			}
			p.note(err)
		}
	}
}

// weighAll writes other weights. Source: CLB API 2018-03-17, BatchModifyTargetWeight.
func weighAll(places []*place) {
	var list []params
	var of []*place
	for _, p := range places {
		byWeight := map[int][]params{}
		for _, m := range p.weigh {
			byWeight[m.Weight] = append(byWeight[m.Weight], targetParams(m, "", "", true))
		}
		for _, weight := range sortedWeights(byWeight) {
			for part := range slices.Chunk(byWeight[weight], mostWeighed) {
				one := params{"ListenerId": p.listener, "Targets": part, "Weight": weight}
				if p.rule != "" {
					one["LocationId"] = p.rule
				}
				list = append(list, one)
			}
		}
		if len(p.weigh) > 0 && p.err == nil {
			of = append(of, p)
		}
	}
	if len(of) == 0 {
		return
	}
	for part := range slices.Chunk(list, mostWeights) {
		err := of[0].Session.change(of[0].Ctx, balancerOf(of[0].change), actSetTargetWeights, params{"ModifyList": part}, nil)
		for _, p := range of {
			p.note(err)
		}
	}
}

// How many weights one call takes: entries of 50 targets each, 500 targets in all.
const (
	mostWeighed = 50
	mostWeights = 10
)

func sortedWeights(by map[int][]params) []int {
	out := make([]int, 0, len(by))
	for w := range by {
		out = append(out, w)
	}
	sort.Ints(out)
	return out
}
