package wire

import (
	"fmt"
	"maps"
	"slices"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/stack"
)

// found puts together what was read for one scope.
func (r *read) found(v *view) providers.Found[*model.Facts] {
	out := providers.Found[*model.Facts]{At: r.now(), Facts: r.factsOf(v.scope)}
	out.Have = &stack.Stack{Owner: v.scope.Owner}
	for _, t := range v.things {
		out.Have.Put(r.resource(v, t))
	}
	out.Have.Sort()
	out.Blind, out.Err = r.faults(v)
	return out
}

func (r *read) resource(v *view, t thing) stack.Resource {
	res := stack.Resource{Key: t.key, ID: t.id, Proof: stack.Name}
	if t.name.Shared {
		res.Ownership = stack.Shared
	}
	switch o := t.object.(type) {
	case *computepb.ForwardingRule:
		res.Spec, res.Slot = v.ruleOf(o), model.RuleSlot(o.GetName())
	case *computepb.Address:
		res.Spec = addressOf(o)
		if o.GetStatus() == computepb.Address_RESERVING.String() {
			res.State = stack.Pending
		}
	case *computepb.TargetPool:
		res.Spec = v.poolOf(o)
	case *computepb.BackendService:
		res.Spec = v.backendOf(o, r.config.Network)
	case *computepb.HealthCheck:
		res.Spec = checkOf(o)
	case httpCheck:
		res.Spec = httpCheckOf(o.HttpHealthCheck)
	case *computepb.Firewall:
		spec := firewallOf(o)
		res.Spec = spec
		if t.name.Ambiguous {
			res.Proof = proofIf(model.NamesService(spec.Description, v.scope.Owner))
		}
	case *computepb.InstanceGroup:
		res.Spec = model.Group{Name: o.GetName(), Zone: model.LastOf(o.GetZone()), Instances: r.members[t.id]}
	case *computepb.NetworkEndpointGroup:
		res.Spec = negOf(o, r.endpoints[t.id])
		res.Proof = proofIf(model.NegIsOurs(r.config, v.scope.Owner, o.GetDescription()))
	}
	return res
}

func proofIf(ours bool) stack.Proof {
	if ours {
		return stack.Description
	}
	return stack.None
}

// ref points to a thing in the answer, or to any other by its path.
func (v *view) ref(url string) stack.Ref {
	if url == "" {
		return stack.Ref{}
	}
	path := model.PathOf(url)
	if k, ok := v.keys[path]; ok {
		return stack.RefTo(k)
	}
	return stack.RefID(path)
}

func (v *view) refs(urls []string) []stack.Ref {
	var out []stack.Ref
	for _, u := range urls {
		out = append(out, v.ref(u))
	}
	slices.SortFunc(out, stack.Ref.Compare)
	return out
}

// faults are the faults that affect the scope's result. A list that was denied, or of a
// place that could not be reached, leaves its kinds blind, so that "not shown" is not
// taken for "not found". The rest continues.
func (r *read) faults(v *view) (providers.Blind, error) {
	var all []error
	blind := maps.Clone(r.blind)
	for _, f := range slices.Sorted(maps.Keys(r.failed)) {
		if !r.dependsOn(v, f) {
			continue
		}
		if kinds := f.kinds(); providers.HidesOnly(r.failed[f]) && len(kinds) > 0 {
			blind.Add(fmt.Errorf("read %s: %w", f, r.failed[f]), kinds...)
			continue
		}
		all = append(all, fmt.Errorf("read %s: %w", f, r.failed[f]))
	}
	for _, t := range v.things {
		if err := r.broken[t.id]; err != nil {
			all = append(all, fmt.Errorf("read %s: %w", t.id, err))
		}
	}
	if len(v.scope.Own) == 0 || !v.deep {
		blind = nil
	}
	return blind, fault.Listed(all...)
}

// dependsOn reports whether the scope's result depends on a list.
func (r *read) dependsOn(v *view, f family) bool {
	if len(f.kinds()) > 0 {
		return slices.ContainsFunc(v.scope.Own, func(l providers.Lookup) bool { return familyOf(l.Kind) == f && (v.deep || f == familyRules) })
	}
	return slices.ContainsFunc(v.scope.Facts, func(l providers.Lookup) bool { return factFamily(l.Kind) == f })
}
