package arm

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// GroupType is the type of resource groups.
const GroupType = "Microsoft.Resources/resourceGroups"

// Provisioning states. Source: Azure REST API reference, ProvisioningState.
const (
	Succeeded = "Succeeded"
	Updating  = "Updating"
	Deleting  = "Deleting"
	Failed    = "Failed"
	Canceled  = "Canceled"
)

// Resource is one stored resource. It is replaced by a write, never changed.
type Resource struct {
	ID ID
	// Doc is what was asked for, with ids written into children; what follows
	// from other resources is added when it is shown.
	Doc  Doc
	Etag string
	// Provisioning is the provisioning state.
	Provisioning string

	key  string
	refs []Ref
}

// Ref says that something refers to something else.
type Ref struct {
	// From is the id of the resource, or of the part of it, that holds the reference.
	From string
	// Property is the name of the property that holds it, or of the list it is in.
	Property string
	// To is the id referred to, as it was written.
	To string
}

// State is all resources with their references. Reads may share it.
type State struct {
	byType map[string]map[string]*Resource
	back   map[string]map[Ref]bool
	// addresses are the private addresses in use: by subnet and address, the id
	// of the part that has it. Earlier states have none, since reads need none.
	addresses map[string]map[string]string
}

// NewState makes an empty state.
func NewState() *State {
	return &State{byType: map[string]map[string]*Resource{}, back: map[string]map[Ref]bool{}, addresses: map[string]map[string]string{}}
}

// Freeze copies the state; resources are shared, since they do not change.
func (s *State) Freeze() *State {
	out := &State{byType: make(map[string]map[string]*Resource, len(s.byType)), back: make(map[string]map[Ref]bool, len(s.back))}
	for kind, list := range s.byType {
		out.byType[kind] = maps.Clone(list)
	}
	for to, refs := range s.back {
		out.back[to] = maps.Clone(refs)
	}
	return out
}

// Get finds a resource by its id in any letter case.
func (s *State) Get(id ID) *Resource { return s.byType[strings.ToLower(id.Type())][id.Key()] }

// Lookup is Get for an id in text form.
func (s *State) Lookup(text string) *Resource {
	id, ok := ParseID(text)
	if !ok {
		return nil
	}
	return s.Get(id)
}

// Part finds an object with an id inside the resource that holds it, such as a
// subnet in its network, together with that resource.
func (s *State) Part(text string) (Doc, *Resource) {
	id, ok := ParseID(text)
	if !ok {
		return nil, nil
	}
	if r := s.Get(id); r != nil {
		return r.Doc, r
	}
	for up := id; len(up.Types) > 1; {
		up = up.Parent()
		r := s.Get(up)
		if r == nil {
			continue
		}
		var part Doc
		key := id.Key()
		eachObject(up.String(), r.Doc, func(in place, d Doc) bool {
			if in.isPart && Key(in.owner) == key {
				part = d
			}
			return part == nil
		})
		return part, r
	}
	return nil, nil
}

// All gives the resources of a type in the order of their ids.
func (s *State) All(kind string) []*Resource {
	return slices.SortedFunc(maps.Values(s.byType[strings.ToLower(kind)]), byKey)
}

func byKey(a, b *Resource) int { return cmp.Compare(a.key, b.key) }

// Under gives the resources of a type whose id begins with another id.
func (s *State) Under(kind string, parent ID) []*Resource {
	prefix := parent.Key() + "/"
	var out []*Resource
	for key, r := range s.byType[strings.ToLower(kind)] {
		if strings.HasPrefix(key, prefix) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, byKey)
	return out
}

// Everything gives all resources, by type and id.
func (s *State) Everything() []*Resource {
	var out []*Resource
	for _, kind := range slices.Sorted(maps.Keys(s.byType)) {
		out = append(out, s.All(kind)...)
	}
	return out
}

// ReferredBy gives the references to an id, in order.
func (s *State) ReferredBy(id string) []Ref {
	return slices.SortedFunc(maps.Keys(s.back[Key(id)]), func(a, b Ref) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Property, b.Property))
	})
}

// put stores a resource in place of the one with its id.
func (s *State) put(r *Resource) {
	s.remove(r.ID)
	eachAddress(r.ID.String(), r.Doc, func(subnet, ip, part string) {
		if s.addresses[subnet] == nil {
			s.addresses[subnet] = map[string]string{}
		}
		s.addresses[subnet][ip] = part
	})
	kind := strings.ToLower(r.ID.Type())
	if s.byType[kind] == nil {
		s.byType[kind] = map[string]*Resource{}
	}
	r.key = r.ID.Key()
	s.byType[kind][r.key] = r
	r.refs = References(r.ID.String(), r.Doc)
	for _, ref := range r.refs {
		key := Key(ref.To)
		if s.back[key] == nil {
			s.back[key] = map[Ref]bool{}
		}
		s.back[key][ref] = true
	}
}

func (s *State) remove(id ID) *Resource {
	old := s.Get(id)
	if old == nil {
		return nil
	}
	delete(s.byType[strings.ToLower(id.Type())], id.Key())
	eachAddress(old.ID.String(), old.Doc, func(subnet, ip, _ string) { delete(s.addresses[subnet], ip) })
	for _, ref := range old.refs {
		key := Key(ref.To)
		delete(s.back[key], ref)
		if len(s.back[key]) == 0 {
			delete(s.back, key)
		}
	}
	return old
}

// AddressUser gives the id of what has a private address in a subnet, or "".
func (s *State) AddressUser(subnet, ip string) string { return s.addresses[Key(subnet)][ip] }

// Addresses are all private addresses in use in a subnet, with the id of what has
// each. The map belongs to the state.
func (s *State) Addresses(subnet string) map[string]string { return s.addresses[Key(subnet)] }

// place is where an object of a document is.
type place struct {
	owner    string // id of the part around it, or of the resource
	property string // that holds the object, or the list it is in
	isPart   bool   // the object is the part itself
}

// eachObject visits the objects of a resource's document, as deep as visit returns true. An object
// with a name and an id inside the resource is a part of it.
func eachObject(resource string, d Doc, visit func(in place, d Doc) bool) {
	var walk func(in place, v any)
	walk = func(in place, v any) {
		switch x := v.(type) {
		case Doc:
			if id := Text(x, "id"); x["name"] != nil && Within(id, resource) {
				in.owner, in.isPart = id, true
			}
			if visit(in, x) {
				for name, e := range x {
					walk(place{owner: in.owner, property: name}, e)
				}
			}
		case []any:
			for _, e := range x {
				walk(in, e)
			}
		}
	}
	walk(place{owner: resource}, d)
}

// eachAddress finds every object with an address and a subnet. The address is
// that of the innermost part around it, or of the resource.
func eachAddress(resource string, d Doc, found func(subnet, ip, part string)) {
	eachObject(resource, d, func(in place, d Doc) bool {
		if ip, subnet := Text(d, "privateIPAddress"), Text(d, "subnet", "id"); ip != "" && subnet != "" {
			found(Key(subnet), ip, in.owner)
		}
		return true
	})
}

// References gives the ids that a document refers to. A part holds the references below it.
func References(resource string, d Doc) []Ref {
	var out []Ref
	eachObject(resource, d, func(in place, d Doc) bool {
		id := Text(d, "id")
		refers := in.property != "" && !in.isPart && strings.HasPrefix(id, "/")
		if refers {
			out = append(out, Ref{From: in.owner, Property: in.property, To: id})
		}
		return !refers
	})
	return out
}

// Parts gives the ids of the parts of a resource.
func Parts(resource string, d Doc) []string {
	var out []string
	eachObject(resource, d, func(in place, _ Doc) bool {
		if in.isPart {
			out = append(out, in.owner)
		}
		return true
	})
	return out
}
