package wire

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/tencent/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// createListeners creates listeners of one load balancer: those of one protocol with the same settings
// in one call.
func createListeners(all []*change) []plan.Outcome {
	out := make([]plan.Outcome, len(all))
	groups := map[string][]int{}
	for i, c := range all {
		spec, _ := c.Step.Target.Spec.(model.Listener)
		kind := fmt.Sprint(c.Parent(), spec.Protocol, spec.Certificate, spec.SNI, spec.Settings)
		groups[kind] = append(groups[kind], i)
	}
	for _, kind := range slices.Sorted(maps.Keys(groups)) {
		createAlike(all, groups[kind], out)
	}
	return registerNew(all, out)
}

// registerNew registers the targets of new listeners and rules.
func registerNew(all []*change, out []plan.Outcome) []plan.Outcome {
	var places []*place
	var of []int
	for i, c := range all {
		if out[i].Err != nil || len(membersOfSpec(c.Step.Target.Spec)) == 0 {
			continue
		}
		places, of = append(places, placeOf(c, out[i].After.ID)), append(of, i)
	}
	registerAll(places)
	for n, p := range places {
		if out[of[n]].Refused = p.refused; p.err != nil {
			out[of[n]] = plan.Outcome{Err: p.err, Sent: plan.MaybeSent}
		}
	}
	return out
}

// membersOfSpec returns the members of a listener or a rule.
func membersOfSpec(spec stack.Spec) []model.Member {
	switch s := spec.(type) {
	case model.Listener:
		return s.Members
	case model.Rule:
		return s.Members
	}
	return nil
}

// createAlike creates listeners that differ in their ports alone.
func createAlike(all []*change, places []int, out []plan.Outcome) {
	lead := all[places[0]]
	like, _ := lead.Step.Target.Spec.(model.Listener)
	p := params(model.ExpandSettings(like.Settings))
	var ports []int32
	var names []string
	for _, i := range places {
		spec, _ := all[i].Step.Target.Spec.(model.Listener)
		ports, names = append(ports, spec.Port), append(names, spec.Name)
	}
	p["Protocol"], p["Ports"], p["ListenerNames"] = like.Protocol, ports, names
	if like.Certificate != "" {
		p["Certificate"] = certificateDoc{like.Certificate, "UNIDIRECTIONAL"}
	}
	if like.SNI {
		p["SniSwitch"] = 1
	}
	var made struct {
		IDs []string `json:"ListenerIds"`
	}
	s := lead.Session
	err := s.change(lead.Ctx, lead.Parent(), actCreateListener, p, &made)
	if err == nil && len(made.IDs) != len(ports) {
		err = fault.New(fault.Ambiguous, "%d listeners were asked for, and the answer names %d", len(ports), len(made.IDs))
	}
	if err == nil && like.Claimed {
		err = s.note(lead.Ctx, lead.Step.ID.Owner, lead.Parent(), func(ids []string) []string { return append(ids, made.IDs...) })
		if err != nil {
			err = &fault.Fault{Meaning: fault.Ambiguous, Text: "the new listeners were not noted: " + err.Error(), Err: err}
		}
	}
	var byPort map[int32]string
	if err == nil {
		byPort, err = s.portsOf(lead.Ctx, lead.Parent(), ports, made.IDs)
	}
	for n, i := range places {
		if err != nil {
			out[i] = kit.Failed(err)
			continue
		}
		spec, _ := all[i].Step.Target.Spec.(model.Listener)
		out[i] = all[i].Created(byPort[ports[n]], stack.Derived, spec)
	}
}

// portsOf returns the new listeners of ports. The API does not promise that their ids are in the order of the
// ports. Targets of another port would get the traffic, so several listeners are read.
// Source: API reference of Cloud Load Balancer, CreateListener, ListenerIds.
func (s *Session) portsOf(ctx context.Context, balancer string, ports []int32, ids []string) (map[int32]string, error) {
	if len(ports) == 1 {
		return map[int32]string{ports[0]: ids[0]}, nil
	}
	found, err := s.readNew(ctx, balancer, ids)
	if err != nil {
		return nil, err
	}
	out := map[int32]string{}
	for _, d := range found {
		out[d.Port] = d.ID
	}
	for _, port := range ports {
		if out[port] == "" {
			return nil, fault.New(fault.Ambiguous, "the new listener of port %d is not listed", port)
		}
	}
	return out, nil
}

// deleteListeners deletes listeners of one load balancer, with their rules and targets.
func deleteListeners(all []*change) []plan.Outcome {
	out := make([]plan.Outcome, len(all))
	byParent := map[string][]int{}
	for i, c := range all {
		byParent[c.Parent()] = append(byParent[c.Parent()], i)
	}
	for _, parent := range slices.Sorted(maps.Keys(byParent)) {
		for part := range slices.Chunk(byParent[parent], mostIDs) {
			var ids []string
			for _, i := range part {
				ids = append(ids, all[i].ID())
			}
			err := dropListeners(all[part[0]], parent, ids)
			for _, i := range part {
				out[i] = kit.Deleted(err)
			}
		}
	}
	return out
}

// dropListeners deletes listeners. A call without ids would delete all of them.
func dropListeners(c *change, balancer string, ids []string) error {
	if len(ids) == 0 || slices.Contains(ids, "") {
		return fault.New(fault.Internal, "%s: the listener is not known", c.Step.ID)
	}
	err := c.Session.change(c.Ctx, balancer, actDeleteListeners, params{"ListenerIds": ids}, nil)
	if fault.Is(err, fault.NotFound) && len(ids) > 1 { // one of them: the others are still to be deleted
		for _, id := range ids {
			if err := dropListeners(c, balancer, []string{id}); err != nil && !fault.Is(err, fault.NotFound) {
				return err
			}
		}
		return nil
	}
	return err
}

// updateListener writes the settings of a listener: its health check as a whole, with the observed
// values where none is desired.
func updateListener(c *change, spec model.Listener) plan.Outcome {
	found, _ := c.Step.Found.(model.Listener)
	settings, all := mergeSettings(spec.Settings, found.Settings)
	p := params(model.ExpandSettings(settings))
	p["ListenerId"] = c.ID()
	if c.Step.Touches("Certificate") && spec.Certificate != "" {
		p["Certificate"] = certificateDoc{spec.Certificate, "UNIDIRECTIONAL"}
	}
	if c.Step.Touches("SNI") {
		p["SniSwitch"] = 1
	}
	err := c.Session.change(c.Ctx, c.Parent(), actSetListener, p, nil)
	spec.Settings, spec.Members = all, found.Members
	return c.Updated(spec, err)
}

// mergeSettings returns the settings of a call, and all settings of the listener or rule afterwards. A
// health check is written as a whole.
func mergeSettings(want, found map[string]string) (call, all map[string]string) {
	call, all = map[string]string{}, map[string]string{}
	maps.Copy(all, found)
	maps.Copy(all, want)
	health := false
	for name, value := range want {
		if value != found[name] {
			call[name] = value
			health = health || model.IsOfHealth(name)
		}
	}
	for name, value := range all {
		if health && model.IsOfHealth(name) {
			call[name] = value
		}
	}
	return call, all
}

// balancerOf returns the id of the load balancer of a part.
func balancerOf(c *change) string {
	if spec, ok := c.Step.Target.Spec.(model.Rule); ok {
		return c.Resolve(stack.RefTo(spec.Balancer))
	}
	return c.Parent()
}

// createRules creates rules of one listener in one call.
func createRules(all []*change) []plan.Outcome {
	lead := all[0]
	var docs []params
	for _, c := range all {
		spec, _ := c.Step.Target.Spec.(model.Rule)
		one := params(model.ExpandSettings(spec.Settings))
		one["Domain"], one["Url"] = spec.Domain, spec.URL
		if spec.Certificate != "" {
			one["Certificate"] = certificateDoc{spec.Certificate, "UNIDIRECTIONAL"}
		}
		docs = append(docs, one)
	}
	var made struct {
		IDs []string `json:"LocationIds"`
	}
	err := lead.Session.change(lead.Ctx, balancerOf(lead), actCreateRule, params{"ListenerId": lead.Parent(), "Rules": docs}, &made)
	if err == nil && len(made.IDs) != len(all) {
		err = fault.New(fault.Ambiguous, "%d rules were asked for, and the answer names %d", len(all), len(made.IDs))
	}
	var ids map[[2]string]string
	if err == nil {
		ids, err = placesOf(lead, made.IDs)
	}
	out := make([]plan.Outcome, len(all))
	for i, c := range all {
		if err != nil {
			out[i] = kit.Failed(err)
			continue
		}
		spec, _ := c.Step.Target.Spec.(model.Rule)
		id := ids[[2]string{spec.Domain, spec.URL}]
		if id == "" {
			out[i] = kit.Failed(fault.New(fault.Ambiguous, "the new rule of %s%s is not listed", spec.Domain, spec.URL))
			continue
		}
		out[i] = c.Created(id, stack.Derived, spec)
	}
	return registerNew(all, out)
}

// placesOf returns new rules of a listener by domain and path. Several are read, as new listeners are.
func placesOf(c *change, ids []string) (map[[2]string]string, error) {
	if spec, ok := c.Step.Target.Spec.(model.Rule); ok && len(ids) == 1 {
		return map[[2]string]string{{spec.Domain, spec.URL}: ids[0]}, nil
	}
	found, err := c.Session.readNew(c.Ctx, balancerOf(c), []string{c.Parent()})
	out := map[[2]string]string{}
	for _, d := range found {
		for _, r := range d.Rules {
			out[[2]string{r.Domain, r.URL}] = r.ID
		}
	}
	return out, err
}

// readNew reads listeners of a load balancer that a call has just changed.
func (s *Session) readNew(ctx context.Context, balancer string, ids []string) ([]listenerDoc, error) {
	var got struct {
		Listeners []listenerDoc `json:"Listeners"`
	}
	if err := s.readOf(ctx, balancer, actListListeners, params{"ListenerIds": ids}, &got); err != nil {
		return nil, &fault.Fault{Meaning: fault.Ambiguous, Text: "what was created was not read: " + err.Error(), Err: err}
	}
	return got.Listeners, nil
}

func updateRule(c *change, spec model.Rule) plan.Outcome {
	found, _ := c.Step.Found.(model.Rule)
	settings, all := mergeSettings(spec.Settings, found.Settings)
	p := params(model.ExpandSettings(settings))
	p["ListenerId"], p["LocationId"] = c.Parent(), c.ID()
	err := c.Session.change(c.Ctx, balancerOf(c), actSetRule, p, nil)
	spec.Settings, spec.Members = all, found.Members
	return c.Updated(spec, err)
}

// updateDomain changes the certificate of a domain.
func updateDomain(c *change, spec model.Rule) plan.Outcome {
	p := params{"ListenerId": c.Parent(), "Domain": spec.Domain, "Certificate": certificateDoc{spec.Certificate, "UNIDIRECTIONAL"}}
	return c.Updated(spec, c.Session.change(c.Ctx, balancerOf(c), actSetDomain, p, nil))
}

func deleteRule(c *change) plan.Outcome {
	return kit.Deleted(c.Session.change(c.Ctx, balancerOf(c), actDeleteRule, params{"ListenerId": c.Parent(), "LocationIds": []string{c.ID()}}, nil))
}
