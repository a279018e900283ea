package view

import (
	"cmp"
	"slices"

	"github.com/berth-lb/berth/stack"
)

// Holding is the existing and the desired stack of one Service; nil: there is none.
type Holding struct {
	Owner      stack.Owner
	Have, Want *stack.Stack
}

// Share returns the shared resources of Services, and which Service uses which part of them.
func Share(holdings []Holding) []SharedResource {
	type identity struct {
		key stack.Key
		id  string
	}
	found := map[identity]*SharedResource{}
	for _, h := range holdings {
		for key, res := range h.resources() {
			if res.Ownership != stack.Shared {
				continue
			}
			at := identity{key, res.ID}
			if found[at] == nil {
				found[at] = &SharedResource{Key: key, ID: res.ID}
			}
			found[at].Users = append(found[at].Users, Use{Owner: h.Owner, Parts: h.partsOf(key)})
		}
	}
	out := []SharedResource{}
	for _, res := range found {
		slices.SortFunc(res.Users, func(a, b Use) int { return a.Owner.Compare(b.Owner) })
		out = append(out, *res)
	}
	slices.SortFunc(out, func(a, b SharedResource) int {
		return cmp.Or(cmp.Compare(a.Key.String(), b.Key.String()), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// resources returns the desired and the existing resources; of two the existing one, which has
// an identifier. A resource without proof was only found beside the ones of the Service.
func (h Holding) resources() map[stack.Key]stack.Resource {
	out := map[stack.Key]stack.Resource{}
	if h.Want != nil {
		for _, res := range h.Want.Resources {
			out[res.Key] = res
		}
	}
	if h.Have != nil {
		for _, res := range h.Have.Resources {
			if _, desired := out[res.Key]; desired || res.Proof != stack.None {
				out[res.Key] = res
			}
		}
	}
	return out
}

// partsOf lists the resources of a Service that are a part of another one or refer to it.
func (h Holding) partsOf(key stack.Key) []string {
	var out []string
	for own, res := range h.resources() {
		refers := slices.ContainsFunc(stack.Refs(res.Spec), func(ref stack.Ref) bool { return ref.To == key })
		if own != key && (res.In == key || refers) {
			out = append(out, own.String())
		}
	}
	slices.Sort(out)
	return out
}
