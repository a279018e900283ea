package wire

import (
	"context"
	"maps"
	"slices"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"
	raw "google.golang.org/api/compute/v1"

	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// readMembers reads what is in the groups of all answers, each group once.
func (r *read) readMembers(views []*view) {
	groups := map[string]stack.Kind{}
	sizes := map[string]int{}
	for _, v := range views {
		for _, t := range v.things {
			if t.key.Kind == model.KindGroup || t.key.Kind == model.KindNEG {
				groups[t.id] = t.key.Kind
			}
			if g, ok := t.object.(*computepb.NetworkEndpointGroup); ok {
				sizes[t.id] = int(g.GetSize())
			}
		}
	}
	kit.ForEach(slices.Sorted(maps.Keys(groups)), func(id string) {
		var names []string
		var endpoints []model.Endpoint
		var err error
		if groups[id] == model.KindGroup {
			names, err = r.membersYoung(r.ctx, id)
		} else {
			endpoints, err = r.endpointsKnown(r.ctx, id, sizes[id])
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if err != nil {
			r.broken[id] = err
		}
		r.members[id], r.endpoints[id] = names, endpoints
	})
}

// membersYoung are the instances of a group, from memory if that is young.
func (s *Session) membersYoung(ctx context.Context, group string) ([]string, error) {
	if names, ok := s.groups.Get(group, memberAge); ok {
		return names, nil
	}
	return s.membersOf(ctx, group)
}

// membersOf are the instances of a group by name, whatever their state.
func (s *Session) membersOf(ctx context.Context, group string) ([]string, error) {
	out, began := []string{}, s.groups.Begin(group)
	call := s.memberAPI.groups.ListInstances(s.config.Project, model.ZoneOf(group), model.LastOf(group), &raw.InstanceGroupsListInstancesRequest{InstanceState: "ALL"})
	err := faultOf(call.MaxResults(page).Pages(ctx, func(list *raw.InstanceGroupsListInstances) error {
		for _, i := range list.Items {
			out = append(out, model.LastOf(i.Instance))
		}
		return nil
	}), kit.Reading)
	if err != nil {
		s.groups.Forget(group)
		return nil, err
	}
	slices.Sort(out)
	s.groups.Listed(group, began, out)
	return out, nil
}

// endpointsKnown are the endpoints of a group, from the cache if their number is still
// that of the list of groups. An exchange of as many endpoints by hand is noticed when
// the cache expires.
func (s *Session) endpointsKnown(ctx context.Context, neg string, size int) ([]model.Endpoint, error) {
	if known, ok := s.points.Get(neg, endpointAge); ok && len(known) == size {
		return known, nil
	}
	return s.endpointsOf(ctx, neg)
}

// endpointsOf are the endpoints of a group, without detached ones that only finish their
// connections.
func (s *Session) endpointsOf(ctx context.Context, neg string) ([]model.Endpoint, error) {
	out, began := []model.Endpoint{}, s.points.Begin(neg)
	call := s.memberAPI.negs.ListNetworkEndpoints(s.config.Project, model.ZoneOf(neg), model.LastOf(neg), &raw.NetworkEndpointGroupsListEndpointsRequest{HealthStatus: "SHOW"})
	err := faultOf(call.MaxResults(page).Pages(ctx, func(list *raw.NetworkEndpointGroupsListNetworkEndpoints) error {
		for _, e := range list.Items {
			if e.NetworkEndpoint != nil && !isDraining(e) {
				out = append(out, model.Endpoint{Instance: model.LastOf(e.NetworkEndpoint.Instance), IP: bareIP(e.NetworkEndpoint.IpAddress)})
			}
		}
		return nil
	}), kit.Reading)
	if err != nil {
		s.points.Forget(neg)
		return nil, err
	}
	slices.SortFunc(out, model.Endpoint.Compare)
	s.points.Listed(neg, began, out)
	return out, nil
}

func isDraining(e *raw.NetworkEndpointWithHealthStatus) bool {
	return slices.ContainsFunc(e.Healths, func(h *raw.HealthStatusForNetworkEndpoint) bool { return h.HealthState == "DRAINING" })
}

// company is how long the first of several rules that are made at the same time
// waits for the others: next to nothing beside the operation that has made it.
const company = 100 * time.Millisecond

// ruleAnswer is a forwarding rule that has just been made; nil if there is none.
type ruleAnswer struct {
	rule *computepb.ForwardingRule
	err  error
}

// newRule reads a forwarding rule that has just been made, for its IP.
func (s *Session) newRule(ctx context.Context, name string) (*computepb.ForwardingRule, error) {
	a, err := s.rules.await(ctx, name)
	if err != nil {
		return nil, err
	}
	return a.rule, a.err
}

func (s *Session) answerRules(ctx context.Context, names []string) []ruleAnswer {
	found, err := s.readRules(ctx, names)
	out := make([]ruleAnswer, 0, len(names))
	for _, n := range names {
		out = append(out, ruleAnswer{rule: found[n], err: err})
	}
	return out
}

// readRules reads rules by name: one by itself, several in a list.
func (s *Session) readRules(ctx context.Context, names []string) (map[string]*computepb.ForwardingRule, error) {
	out := map[string]*computepb.ForwardingRule{}
	if len(names) == 1 {
		f, err := readCall(ctx, s.ruleAPI.Get, &computepb.GetForwardingRuleRequest{Project: s.config.Project, Region: s.config.Region, ForwardingRule: names[0]})
		if err == nil {
			out[names[0]] = f
		}
		return out, err
	}
	it := beginList(ctx, s, s.ruleAPI.List, &computepb.ListForwardingRulesRequest{Filter: filterOf(names)})
	err := eachComplete(it.Next, func(f *computepb.ForwardingRule) { out[f.GetName()] = f })
	return out, err
}
