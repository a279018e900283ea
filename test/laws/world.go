package laws

import (
	"fmt"
	"hash/maphash"
	"maps"
	"reflect"
	"slices"

	"github.com/berth-lb/berth/stack"
)

// World is a cloud in memory: the resources of all owners. References are kept by
// identifier, as a cloud keeps them.
type World struct {
	subject *Subject
	objects []*object // oldest first; written to by copy
	made    map[string]int
	status  map[stack.Owner]any          // what the Services publish
	views   map[stack.Owner]*stack.Stack // valid until the next write
	states  *states
	memo    *memo
}

// object is one resource of the cloud.
type object struct {
	number int
	owner  stack.Owner // zero: shared, or existing before all Services
	parent int         // number of the object that it is part of; 0: none
	r      stack.Resource
	digest uint64 // of owner and resource, with the seed of its states; 0: not computed
}

// NewWorld returns the cloud before any Service exists.
func NewWorld(s *Subject) *World {
	w := &World{subject: s, made: map[string]int{}, status: map[stack.Owner]any{}, views: map[stack.Owner]*stack.Stack{}, states: newStates(), memo: newMemo()}
	for _, r := range s.Existing {
		w.add(stack.Owner{}, r)
	}
	return w
}

// clone returns a copy that changes independently.
func (w *World) clone() *World {
	return &World{
		subject: w.subject, objects: slices.Clone(w.objects), made: maps.Clone(w.made), status: maps.Clone(w.status),
		views: maps.Clone(w.views), states: w.states, memo: newMemo(),
	}
}

// origin returns a copy in which runs begin. They share the states that they pass through.
func (w *World) origin() *World {
	out := w.clone()
	out.states = newStates()
	for i, o := range out.objects {
		plain := *o
		plain.digest = 0
		out.objects[i] = &plain
	}
	return out.known()
}

// known returns the world with the same state that was reached before, or the world itself:
// runs that differ in the order of steps meet again.
func (w *World) known() *World {
	at := w.digest()
	if same := w.states.reached[at]; same != nil {
		return same
	}
	w.states.reached[at] = w
	return w
}

// states are the ones that runs from one start have passed through, by digest.
type states struct {
	seed    maphash.Seed
	reached map[uint64]*World
}

func newStates() *states { return &states{maphash.MakeSeed(), map[uint64]*World{}} }

// digest identifies the state: which resources exist, under which parent, how often each key
// was created, and what is published. The age of resources matters only under one key.
func (w *World) digest() uint64 {
	type place struct {
		owner stack.Owner
		key   stack.Key
	}
	older, byNumber := map[place]uint64{}, make(map[int]uint64, len(w.objects))
	seed := w.states.seed
	var sum uint64
	for i, o := range w.objects {
		if o.digest == 0 {
			hashed := *o
			hashed.digest = hashOf(seed, o.owner, o.r)
			o = &hashed
			w.objects[i] = o
		}
		byNumber[o.number] = o.digest
		at := place{o.owner, o.r.Key}
		sum += maphash.Comparable(seed, [3]uint64{o.digest, byNumber[o.parent], older[at]})
		older[at]++
	}
	for name, n := range w.made {
		sum += maphash.String(seed, name) * uint64(n)
	}
	for o, v := range w.status {
		sum += hashOf(seed, o, v)
	}
	return sum
}

// Published returns what a Service has published, as the [Case] says; nil: nothing yet.
func (w *World) Published(o stack.Owner) any { return w.status[o] }

// publish returns the world after a Service has published something. Nil changes nothing.
func (w *World) publish(o stack.Owner, status any) *World {
	if status == nil || reflect.DeepEqual(w.status[o], status) {
		return w
	}
	next := w.clone()
	next.status[o] = status
	return next.known()
}

// NewID returns an identifier for a resource that the cloud creates. It depends on the
// owner, the key and how often that was created before, and not on the order of steps.
func (w *World) NewID(o stack.Owner, k stack.Key) string {
	base := o.Name + "." + string(k.Kind) + "." + k.Name
	w.made[base]++
	return fmt.Sprintf("%s#%d", base, w.made[base])
}

// changed drops the views that a write to an object makes untrue.
func (w *World) changed(o *object) {
	if o.owner.IsCluster() || w.subject.Read != nil {
		clear(w.views)
		return
	}
	delete(w.views, o.owner)
}

// add puts a resource into the cloud and returns its object.
func (w *World) add(o stack.Owner, r stack.Resource) *object {
	made := &object{number: len(w.objects) + 1, owner: o, r: r}
	if last := len(w.objects) - 1; last >= 0 {
		made.number = w.objects[last].number + 1
	}
	if r.Ownership != stack.Owned {
		made.owner = stack.Owner{}
	}
	if parent := w.current(o, r.In); parent != nil {
		made.parent = parent.number
	}
	w.objects = append(w.objects, made)
	w.changed(made)
	return made
}

// put replaces the resource of an object.
func (w *World) put(old *object, r stack.Resource) {
	i := slices.Index(w.objects, old)
	changed := *old
	changed.r, changed.digest = r, 0
	w.objects[i] = &changed
	w.changed(old)
}

// drop removes an object and its parts.
func (w *World) drop(o *object) {
	gone := map[int]bool{o.number: true}
	for _, part := range w.objects {
		within := w.subject.Rules.Kinds[part.r.Key.Kind].Within
		if gone[part.parent] && (within.Cascade || within.Inherent) {
			gone[part.number] = true
		}
	}
	w.objects = slices.DeleteFunc(w.objects, func(o *object) bool { return gone[o.number] })
	w.changed(o)
}

// current returns the newest object that an owner has, or shares, under a key; nil: none.
func (w *World) current(o stack.Owner, k stack.Key) *object {
	for i := len(w.objects) - 1; i >= 0; i-- {
		if at := w.objects[i]; at.r.Key == k && (at.owner == o || at.owner == stack.Owner{}) {
			return at
		}
	}
	return nil
}

// byID returns the object of a kind with an identifier; nil: none.
func (w *World) byID(o stack.Owner, kind stack.Kind, id string) *object {
	for _, at := range w.objects {
		if id != "" && at.r.ID == id && at.r.Key.Kind == kind && (at.owner == o || at.owner == stack.Owner{}) {
			return at
		}
	}
	return nil
}

// target returns the object that a step means: by identifier where the step has one.
func (w *World) target(o stack.Owner, r stack.Resource) *object {
	if at := w.byID(o, r.Key.Kind, r.ID); at != nil || r.ID != "" && !w.subject.Rules.Kinds[r.Key.Kind].Within.Inherent {
		return at
	}
	if parent := w.current(o, r.In); parent != nil && w.subject.Rules.Kinds[r.Key.Kind].Within.Inherent {
		for _, at := range w.objects { // the part of a new parent may not exist yet, and that of the old one does
			if at.r.Key == r.Key && at.parent == parent.number {
				return at
			}
		}
		return nil
	}
	return w.current(o, r.Key)
}

// Observed returns what a read returns for an owner. It must not be written to.
func (w *World) Observed(o stack.Owner) *stack.Stack {
	if view := w.views[o]; view != nil {
		return view
	}
	view := w.read(o)
	if w.subject.Read != nil {
		view = w.subject.Read(w, view)
	}
	w.views[o] = view
	return view
}

// read returns the resources that the owner has and that it shares. Of two under one key
// the older one gets a key of its own, since a new one has replaced it.
func (w *World) read(o stack.Owner) *stack.Stack {
	view := &stack.Stack{Owner: o}
	keys, owned := map[int]stack.Key{}, map[stack.Key]*object{}
	for _, at := range w.objects {
		if at.owner == o || at.owner == (stack.Owner{}) && (w.subject.Sees == nil || w.subject.Sees(o, at.r)) {
			owned[at.r.Key] = at
		}
	}
	for _, at := range w.objects {
		newest, sees := owned[at.r.Key]
		if !sees || at.owner != o && at.owner != (stack.Owner{}) {
			continue
		}
		key := at.r.Key
		if newest != at {
			key.Name = "replaced/" + at.r.ID
		}
		keys[at.number] = key
		r := at.r
		r.Key = key
		if in, ok := keys[at.parent]; ok {
			r.In = in
		}
		view.Resources = append(view.Resources, r)
	}
	renameRefs(view)
	return view
}

// renameRefs replaces references by identifier with keys of the view.
func renameRefs(view *stack.Stack) {
	type place struct {
		kind stack.Kind
		id   string
	}
	at := map[place]stack.Key{}
	for _, r := range view.Resources {
		at[place{r.Key.Kind, r.ID}] = r.Key
	}
	for i := range view.Resources {
		r := &view.Resources[i]
		r.Spec = stack.Rebind(r.Spec, func(ref stack.Ref) stack.Ref {
			if ref.ID == "" || ref.To == (stack.Key{}) {
				return ref
			}
			if k, ok := at[place{ref.To.Kind, ref.ID}]; ok {
				return stack.RefTo(k)
			}
			return stack.RefID(ref.ID)
		})
	}
}

// Owners lists the owners of resources, in order.
func (w *World) Owners() []stack.Owner {
	var out []stack.Owner
	for _, at := range w.objects {
		if !at.owner.IsCluster() && !slices.Contains(out, at.owner) {
			out = append(out, at.owner)
		}
	}
	slices.SortFunc(out, stack.Owner.Compare)
	return out
}

// Held returns the resources of an owner as the cloud holds them, without what a read adds or
// hides. The zero owner has the shared ones, and the ones that existed before.
func (w *World) Held(o stack.Owner) []stack.Resource {
	var out []stack.Resource
	for _, at := range w.objects {
		if at.owner == o {
			out = append(out, at.r)
		}
	}
	return out
}

// Find returns the resource with an identifier, of any owner.
func (w *World) Find(kind stack.Kind, id string) (stack.Resource, stack.Owner, bool) {
	for _, at := range w.objects {
		if at.r.Key.Kind == kind && at.r.ID == id {
			return at.r, at.owner, true
		}
	}
	return stack.Resource{}, stack.Owner{}, false
}
