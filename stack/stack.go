package stack

import (
	"cmp"
	"iter"
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

// IsCluster reports whether the owner is the cluster itself.
func (o Owner) IsCluster() bool { return o == Owner{} }

// String returns namespace/name, or "cluster". The remains of an owner may lack the
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

// Kind names a kind of cloud resource in the cloud's own terms, for example
// "target-group".
type Kind string

// Key names a resource inside its owner's stack. It is derived from the Service
// (a port, a protocol), never from what the cloud assigned, so that desired and
// observed resources have the same key.
type Key struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name,omitempty"`
}

// String returns kind/name, or the kind alone if a stack has only one of it.
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
// resource of the same stack, or ID is a literal identifier of a foreign
// resource. Exactly one of the two is set; the zero Ref points nowhere.
type Ref struct {
	To Key    `json:"to,omitzero"`
	ID string `json:"id,omitempty"`
}

// RefTo points to a resource of the same stack.
func RefTo(k Key) Ref { return Ref{To: k} }

// RefID is a literal identifier.
func RefID(id string) Ref { return Ref{ID: id} }

// IsZero reports whether the reference points nowhere.
func (r Ref) IsZero() bool { return r == Ref{} }

// String returns the literal identifier or the key pointed to.
func (r Ref) String() string {
	if r.ID != "" {
		return r.ID
	}
	return r.To.String()
}

// Compare orders references by identifier, then key.
func (r Ref) Compare(s Ref) int { return cmp.Or(cmp.Compare(r.ID, s.ID), r.To.Compare(s.To)) }

// Ownership is the relation of a resource to the stack that contains it.
type Ownership int

const (
	// Owned resources are created, updated and deleted with their stack.
	Owned Ownership = iota
	// Shared resources can be desired by several owners and are deleted with the last one.
	Shared
	// External resources belong to others and are never written.
	External
)

// Proof is the evidence that an observed resource is ours. It is read from
// the cloud, never assumed: without it nothing is deleted.
type Proof int

const (
	// None means that there is no evidence.
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
	// and that its Service cannot be determined. The plan of any Service that reads it
	// deletes it, unless a Service desires it.
	Leftover
)

// State is the lifecycle state that the cloud reports for an observed resource. It
// is never compared.
type State int

const (
	// Ready resources can be used.
	Ready State = iota
	// Pending resources are being created or changed by the cloud.
	Pending
	// Failed resources will not become ready by themselves.
	Failed
)

// Spec is the content of a resource: a struct value (not a pointer) of the
// provider's own type for that kind. Exported fields are compared and shown; see
// [Fields].
type Spec any

// Resource is one cloud resource, desired or observed.
type Resource struct {
	Key       Key
	ID        string // the cloud's identifier; empty while only desired
	In        Key    // the resource of the same stack that this is a part of; zero: none
	Ownership Ownership
	Slot      string // a place that only one resource can have, for example "port 80"
	Proof     Proof  // observed only
	State     State  // observed only; never compared
	Spec      Spec
}

// Stack is the desired or the observed state of one owner. Resources
// can be read, appended to, cut and sorted freely. To change a key, use Drop and
// Put, or a new slice, because the index caches keys. Get is safe for concurrent
// use, as long as there is no concurrent write.
type Stack struct {
	Owner     Owner
	Resources []Resource
	// Incomplete names what a desired stack lacks because the cloud has yet to choose what it
	// depends on, such as an address. Empty: nothing is missing. While it is set, nothing that
	// serves today is removed in a switch; see package diff.
	Incomplete string
	index      atomic.Pointer[index] // created when first needed; see find
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

// Put sets the resource under its key, replacing an existing one.
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
// parts of parts included. Shared entries stay: other owners can desire them as well.
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

// Clone copies the list of resources. Specs are immutable values and are shared.
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

// Empty reports whether the stack has no resources.
func (s *Stack) Empty() bool { return s == nil || len(s.Resources) == 0 }

// Each ranges over the resources of a kind and their contents, in the order of the stack. All
// contents of a kind have one type; others are left out.
func Each[T Spec](s *Stack, kind Kind) iter.Seq2[Resource, T] {
	return func(yield func(Resource, T) bool) {
		for _, r := range s.Of(kind) {
			if spec, ok := r.Spec.(T); ok && !yield(r, spec) {
				return
			}
		}
	}
}

// SpecOf returns the content of the resource with a key; false: there is none of this type.
func SpecOf[T Spec](s *Stack, k Key) (spec T, ok bool) {
	r, _ := s.Get(k)
	spec, ok = r.Spec.(T)
	return spec, ok
}
