package wire

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// details are the calls for the parts of load balancers.
func (f *finder) details(ctx context.Context) []kit.Detail {
	if f.scope.Depth == providers.Shallow {
		return nil
	}
	var out []kit.Detail
	for _, p := range f.parts {
		out = append(out, kit.Detail{Of: []string{p.balancer.ID}, Run: func() error {
			parts, err := f.session.partsOf(ctx, p)
			for _, r := range parts {
				if p.external && r.Proof != stack.None {
					r.Ownership = stack.External
				}
				f.out.Put(r)
			}
			return err
		}})
	}
	return out
}

// list returns a call for a list of parts of a load balancer.
func (s *Session) list(p place, part string, parameters ...string) request {
	return newRequest(apiBLB, http.MethodGet, "/v1/"+p.kind+"/"+p.balancer.ID+"/"+part, nil, parameters...)
}

// partsOf reads the parts of a load balancer.
func (s *Session) partsOf(ctx context.Context, p place) ([]stack.Resource, error) {
	listeners, err := listAll[listenerDoc](ctx, s, "listenerList", s.list(p, "listener"))
	if err != nil {
		return nil, err
	}
	if p.kind == model.BLB {
		return s.normalParts(ctx, p, listeners)
	}
	out, groups, err := s.groupsOf(ctx, p)
	if err != nil {
		return nil, err
	}
	used := map[stack.Key]bool{} // groups and targets
	for _, d := range listeners {
		policies, err := listAll[policyDoc](ctx, s, "policyList", s.list(p, "policys", "port", strconv.Itoa(int(d.Port)), "type", d.Type))
		if err != nil {
			return nil, err
		}
		for _, r := range foundListener(d, policies, p, groups) {
			if policy, ok := r.Spec.(model.Policy); ok && r.Proof != stack.None {
				used[policy.Group.To], used[policy.Target.To] = true, true
			}
			out = append(out, r)
		}
	}
	// A group without the Service's mark, and a port of it, is the Service's only while a policy sends to it.
	return slices.DeleteFunc(out, func(r stack.Resource) bool {
		switch r.Key.Kind {
		case model.KindGroup, model.KindPool:
			return groups.foreign[r.Key] && !used[r.Key]
		case model.KindTarget:
			return groups.foreign[r.In] && !used[r.Key]
		}
		return false
	}), nil
}

// foundGroups are the groups of a load balancer, by their ids.
type foundGroups struct {
	keys    map[string]stack.Key
	foreign map[stack.Key]bool // without the Service's mark
}

// groupsOf reads the groups of a load balancer with their ports and members.
func (s *Session) groupsOf(ctx context.Context, p place) ([]stack.Resource, foundGroups, error) {
	groups := foundGroups{keys: map[string]stack.Key{}, foreign: map[stack.Key]bool{}}
	var out []stack.Resource
	for _, of := range []struct {
		kind       stack.Kind
		part, list string
	}{{model.KindGroup, "appservergroup", "appServerGroupList"}, {model.KindPool, "ipgroup", "appIpGroupList"}} {
		all, err := listAll[groupDoc](ctx, s, of.list, s.list(p, of.part))
		if err != nil {
			return nil, groups, err
		}
		for _, d := range all {
			key, proof := groupKey(d, of.kind, p, groups)
			groups.keys[d.ID], groups.foreign[key] = key, d.Description != p.mark
			if proof == stack.None {
				continue
			}
			members, err := s.membersOf(ctx, p, of.kind, d.ID)
			if err != nil {
				return nil, groups, err
			}
			out = append(out, stack.Resource{Key: key, ID: d.ID, In: p.balancer.Key, Proof: proof, Spec: model.Group{Name: d.Name, Mark: d.Description, Members: members}})
			for _, t := range append(d.Ports, d.Protocols...) {
				out = append(out, stack.Resource{
					Key: model.TargetKey(key, t.Type, t.Port), ID: t.ID, In: key, Slot: model.SlotOf(t.Type, t.Port), Proof: stack.Derived, Spec: t.spec(p.balancer.Key),
				})
			}
		}
	}
	return out, groups, nil
}

// groupKey returns the key of a found group, and the proof that it is the Service's.
func groupKey(d groupDoc, kind stack.Kind, p place, groups foundGroups) (stack.Key, stack.Proof) {
	key, proof := model.FoundGroupKey(kind, d.ID), stack.None
	switch {
	case d.Description == p.mark:
		proof = stack.Description
		if name, ok := model.PartOf(d.Name, p.owner); ok {
			own := stack.Key{Kind: kind, Name: name}
			if _, twice := groups.foreign[own]; !twice {
				key = own
			}
		}
	case p.exclusive, p.mayUse(d):
		proof = stack.Derived // while a policy of the Service sends to it
	}
	return key, proof
}

// membersOf reads the members of a group.
func (s *Session) membersOf(ctx context.Context, p place, kind stack.Kind, id string) ([]model.Member, error) {
	if kind == model.KindPool {
		docs, err := listAll[memberDoc](ctx, s, "memberList", s.list(p, "ipgroup/member", "ipGroupId", id))
		return addressMembers(docs), err
	}
	docs, err := listAll[serverDoc](ctx, s, "backendServerList", s.list(p, "blbrs", "sgId", id))
	return serverMembers(docs), err
}

// foundListener returns a listener with its policies. On a load balancer that is not the Service's own
// the descriptions of both are the evidence, and one is enough for the listener. Without them it is a note, or the
// node port that the policy sends to.
func foundListener(d listenerDoc, policies []policyDoc, p place, groups foundGroups) []stack.Resource {
	ours := slices.ContainsFunc(policies, func(o policyDoc) bool { return o.Description == p.mark })
	key, proof := model.ListenerKey(d.Type, d.Port), stack.Derived
	adopted := p.noted[key.Name] || slices.ContainsFunc(policies, func(o policyDoc) bool { return p.isEvident(d.Type, d.Port, o.BackendPort) })
	switch {
	case p.exclusive, adopted:
	case ours || d.Description == p.mark:
		proof = stack.Description
	default:
		key.Name, proof = "other/"+key.Name, stack.None
	}
	out := []stack.Resource{{Key: key, ID: key.Name, In: p.balancer.Key, Slot: model.SlotOf(d.Type, d.Port), Proof: proof, Spec: d.spec()}}
	for i, o := range policies {
		id := o.Group
		if id == "" {
			id = o.Pool
		}
		r := stack.Resource{Key: model.PolicyKey(key), ID: o.ID, In: key, Slot: "policy", Proof: proof, Spec: model.Policy{
			Protocol: d.Type, Port: d.Port, Group: stack.RefID(id), Backend: o.BackendPort, Mark: o.Description, Balancer: p.balancer.Key,
		}}
		if group, known := groups.keys[id]; known {
			r.Spec = stack.With(r.Spec, "Group", stack.RefTo(group))
			r.Spec = stack.With(r.Spec, "Target", stack.RefTo(model.TargetKey(group, d.Type, o.BackendPort)))
		}
		if i > 0 {
			r.Key.Name, r.Slot = r.Key.Name+"/"+o.ID, ""
		}
		if !p.exclusive && !adopted && o.Description != p.mark {
			r.Key.Name, r.Proof = "other/"+o.ID, stack.None
		}
		out = append(out, r)
	}
	return out
}

// normalParts returns the listeners of a normal load balancer and its backends. The note says which
// listeners are the Service's.
func (s *Session) normalParts(ctx context.Context, p place, listeners []listenerDoc) ([]stack.Resource, error) {
	docs, err := listAll[serverDoc](ctx, s, "backendServerList", s.list(p, "backendserver"))
	if err != nil {
		return nil, err
	}
	servers := stack.Resource{Key: model.BackendsKey(), ID: p.balancer.ID, In: p.balancer.Key, Proof: stack.Derived, Spec: model.Backends{Members: serverMembers(docs)}}
	var out []stack.Resource
	for _, d := range listeners {
		key, proof := model.ListenerKey(d.Type, d.Port), stack.Derived
		r := stack.Resource{Key: key, ID: key.Name, In: p.balancer.Key, Slot: model.SlotOf(d.Type, d.Port), Proof: proof, Spec: d.spec()}
		if !p.noted[key.Name] {
			r.Key.Name, r.Proof, servers.Proof = "other/"+key.Name, stack.None, stack.None
		}
		out = append(out, r)
	}
	return append(out, servers), nil
}

// splitNames returns the names of a note.
func splitNames(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

func joinNames(names []string) string { return strings.Join(names, ",") }
