package stack

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// Owner is the Service that a stack belongs to. The zero value is the cluster
// itself, which owns what no single Service does.
type Owner struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	UID       string `json:"uid,omitempty"`
}

// IsCluster tells whether the owner is the cluster itself.
func (o Owner) IsCluster() bool { return o == Owner{} }

// String is namespace/name, or "cluster". What is left of an owner may tell no
// namespace.
func (o Owner) String() string {
	switch {
	case o.IsCluster():
		return "cluster"
	case o.Namespace == "":
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

// Compare orders owners by namespace, name and UID.
func (o Owner) Compare(p Owner) int {
	return cmp.Or(cmp.Compare(o.Namespace, p.Namespace), cmp.Compare(o.Name, p.Name), cmp.Compare(o.UID, p.UID))
}

// Kind names a sort of cloud resource in the cloud's own words, for example
// "target-group".
type Kind string

// Key names a resource inside its owner's stack. It is made from the Service
// (a port, a protocol), never from what the cloud assigned, so that wanted and
// found resources meet under the same key.
type Key struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name,omitempty"`
}

// String is kind/name, or the kind alone where a stack has only one of it.
func (k Key) String() string {
	if k.Name == "" {
		return string(k.Kind)
	}
	return string(k.Kind) + "/" + k.Name
}

// Compare orders keys by kind, then name.
func (k Key) Compare(l Key) int {
	return cmp.Or(cmp.Compare(k.Kind, l.Kind), cmp.Compare(k.Name, l.Name))
}

// Ref points to an identifier that may not exist yet: either To names a
// resource of the same stack, or ID is a literal identifier of something that
// is not ours. Exactly one of the two is set; the zero Ref points nowhere.
type Ref struct {
	To Key    `json:"to,omitzero"`
	ID string `json:"id,omitempty"`
}

// RefTo points to a resource of the same stack.
func RefTo(k Key) Ref { return Ref{To: k} }

// RefID is a literal identifier.
func RefID(id string) Ref { return Ref{ID: id} }

// IsZero tells whether the reference points nowhere.
func (r Ref) IsZero() bool { return r == Ref{} }

// String is the literal identifier or the key pointed to.
func (r Ref) String() string {
	if r.ID != "" {
		return r.ID
	}
	return r.To.String()
}

// Compare orders references by identifier, then key.
func (r Ref) Compare(s Ref) int { return cmp.Or(cmp.Compare(r.ID, s.ID), r.To.Compare(s.To)) }

// Ownership says whose a resource of a stack is.
type Ownership int

const (
	// Owned resources are made, changed and deleted with their stack.
	Owned Ownership = iota
	// Shared resources may be wanted by several owners and go with the last one.
	Shared
	// External resources belong to somebody else and are never written.
	External
)

// Proof is the reason to believe that a found resource is ours. It is found in
// the cloud, never assumed: without it nothing is deleted.
type Proof int

const (
	// None means that nothing says it is ours.
	None Proof = iota
	// Name means that its name is derived from the Service's UID.
	Name
	// Tag means that it carries our ownership tag.
	Tag
	// Description means that its description names our load balancer.
	Description
	// Derived means that it follows from a resource that is proven to be ours.
	Derived
	// Leftover means that it is in a place that only Services of the cluster write to,
	// and that it belongs to none that can be told. Whoever comes across it removes
	// it, unless somebody wants it; who does not never had a claim to give up.
	Leftover
)

// State is what the cloud says about a found resource's life. It is never
// compared.
type State int

const (
	// Ready resources can be used.
	Ready State = iota
	// Pending resources are still being made or changed by the cloud.
	Pending
	// Failed resources will not become ready by themselves.
	Failed
)

// Spec is the content of a resource: a struct value (not a pointer) of the
// provider's own type for that kind. Exported fields are what is compared and
// shown; see [Fields].
type Spec any

// Resource is one cloud resource, wanted or found.
type Resource struct {
	Key       Key
	ID        string // the cloud's identifier; empty while only wanted
	In        Key    // the resource of the same stack that this is a part of; zero: stands alone
	Ownership Ownership
	Slot      string // a place that only one can have, for example "port 80"; equal slots are never held twice
	Proof     Proof  // found only
	State     State  // found only; never compared
	Spec      Spec
}

// Stack is everything that one owner wants, or everything found of it. Resources
// may be read, appended to, cut and sorted freely; a key is changed by Drop and
// Put, or on a new slice, since look-ups remember keys. Get may be called by many
// at the same time, as long as nobody writes.
type Stack struct {
	Owner     Owner
	Resources []Resource
	// Incomplete names what a desired stack lacks because the cloud has yet to choose what it
	// depends on, such as an address. Empty: nothing is missing. While it is set, nothing that
	// serves today is removed in a switch; see package diff.
	Incomplete string
	index      atomic.Pointer[index] // made when first needed; see find
}

// Get returns the resource with the key, the first one if there are several.
func (s *Stack) Get(k Key) (Resource, bool) {
	if i := s.find(k); i >= 0 {
		return s.Resources[i], true
	}
	return Resource{}, false
}

// Of returns the resources of a kind in the order of the stack.
func (s *Stack) Of(kind Kind) []Resource {
	if s == nil {
		return nil
	}
	var out []Resource
	for _, r := range s.Resources {
		if r.Key.Kind == kind {
			out = append(out, r)
		}
	}
	return out
}

// Put sets the resource under its key, replacing one that is there.
func (s *Stack) Put(r Resource) {
	i := s.find(r.Key)
	known := s.index.Load()
	if i >= 0 {
		known.count(s.Resources[i], -1)
		s.Resources[i] = r
	} else {
		s.Resources = append(s.Resources, r)
		known.put(s.Resources)
	}
	known.count(r, 1)
}

// Drop removes the resource with the key and everything that is a part of it,
// parts of parts included. Shared entries stay: they may be others' as well.
func (s *Stack) Drop(k Key) {
	i := s.find(k)
	known := s.index.Load()
	switch {
	case known == nil || known.parts[k] > 0 || known.doubled():
		s.dropWhole(k)
	case i >= 0:
		known.drop(s.Resources[i])
		s.Resources = slices.Delete(s.Resources, i, i+1)
	}
}

func (s *Stack) dropWhole(k Key) {
	gone := map[Key]bool{k: true}
	for again := true; again; {
		again = false
		for _, r := range s.Resources {
			if isPart(r) && gone[r.In] && !gone[r.Key] {
				gone[r.Key] = true
				again = true
			}
		}
	}
	s.Resources = slices.DeleteFunc(s.Resources, func(r Resource) bool { return gone[r.Key] })
	s.index.Store(nil)
}

// Clone copies the list of resources. Specs are values that nobody writes to,
// so they are shared.
func (s *Stack) Clone() *Stack {
	if s == nil {
		return &Stack{}
	}
	return &Stack{Owner: s.Owner, Resources: slices.Clone(s.Resources), Incomplete: s.Incomplete}
}

// Sort orders the resources by key, so that equal stacks print the same bytes.
func (s *Stack) Sort() {
	slices.SortStableFunc(s.Resources, func(a, b Resource) int { return a.Key.Compare(b.Key) })
	s.index.Store(nil)
}

// Empty tells whether nothing is in the stack.
func (s *Stack) Empty() bool { return s == nil || len(s.Resources) == 0 }
