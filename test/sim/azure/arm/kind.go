package arm

import (
	"slices"
	"strings"
)

// Kind is the rules of one resource type. Nil functions mean no rules.
type Kind struct {
	// Type is the full type, such as Microsoft.Network/loadBalancers.
	Type string
	// Service and Client name the calls in the journal, as the SDK does: "network", "LoadBalancers".
	// Types without a Client have no calls of their own: others show and write them.
	Service, Client string
	// Collections are the parts that have routes of their own.
	Collections []Collection
	// NoEtag is set for types whose answers carry no etag.
	NoEtag bool
	// Sync answers writes at once, with no operation to poll.
	Sync bool
	// ReadOnly properties are dropped from what a client sends.
	ReadOnly []string
	// GUIDs are properties that a resource is given when it is created and keeps: by property,
	// the word that the id is formed from.
	GUIDs map[string]string
	// Shows are properties that list the references to the resource.
	Shows []Show
	// Touches are properties with references to resources that show them: a target gets a new
	// etag when a reference to it is added or removed.
	Touches []string
	// Links are properties that hold another resource; only its id is kept.
	Links []string
	// Members refuses a body that says what the type does not have; it sees the
	// body as it was sent, before anything is dropped from it.
	Members func(body Doc) *Error
	// Prepare completes and checks the body of a PUT or PATCH.
	Prepare func(*Write) *Error
	// Vacate returns an error for parts that must not be deleted while other resources refer to
	// them: on a DELETE the whole resource, on a PUT the parts that the body leaves out.
	Vacate func(w *Write, refs []Ref) *Error
	// Stored is called after the resource was written or, with a nil Doc, deleted.
	Stored func(*Write)
	// View adds what follows from other resources to a copy of the document.
	View func(s *State, r *Resource, d Doc)
	// Expand adds what a caller asks for with $expand.
	Expand func(expand string, s *State, r *Resource, d Doc)
	// GetOnly types are written through others.
	GetOnly bool
	// Patches is set for types whose PUT leaves alone what the body does not name.
	Patches bool
	// Filter reads $filter of a list; types without it ignore the parameter.
	Filter func(filter string, r *Resource) bool
}

// Collection is a list of parts inside a resource.
type Collection struct {
	// Property is both the path segment and the name of the list in properties.
	Property string
	// Client names the calls in the journal.
	Client string
	// Writable parts can be PUT and deleted alone.
	Writable bool
	// Derived parts are shown, and dropped from what a client sends.
	Derived bool
	// Delete is called when a derived part is deleted alone; nil refuses that.
	Delete func(w *Write, name string) *Error
	// ReadOnly properties of a part are dropped from what a client sends.
	ReadOnly []string
	// Shows are properties that list the references to a part.
	Shows []Show
	// Links and LinkLists are properties of a part that hold other resources; only ids are kept.
	Links, LinkLists []string
}

// Show is a property that the service writes from references. What a client sends in it is dropped.
type Show struct {
	Property string
	// Of is how the type that holds the reference ends, in lower case; empty for any.
	Of string
	// By are properties that hold the reference; none for any.
	By []string
	// One is a single reference instead of a list, and Empty shows a list without entries.
	One, Empty bool
}

// show writes the property of a resource or of a part, given the references to it.
func (x Show) show(props Doc, refs []Ref) {
	var ids []string
	for _, ref := range refs {
		id, _ := ParseID(ref.From)
		if strings.HasSuffix(strings.ToLower(id.Type()), x.Of) && (x.By == nil || slices.Contains(x.By, ref.Property)) {
			ids = append(ids, ref.From)
		}
	}
	switch {
	case x.One && len(ids) > 0:
		props[x.Property] = Doc{"id": ids[len(ids)-1]}
	case !x.One && (x.Empty || len(ids) > 0):
		props[x.Property] = Refs(ids)
	}
}

func dropShown(props Doc, list []Show) {
	for _, x := range list {
		delete(props, x.Property)
	}
}

// replace writes a part in place of the one of its name, or at the end; nil removes that one.
func (c Collection) replace(d Doc, name string, part Doc) {
	var next []any
	list, _ := Value(d, "properties", c.Property).([]any)
	for _, e := range list {
		if old, ok := e.(Doc); ok && strings.EqualFold(Text(old, "name"), name) {
			if part == nil {
				continue
			}
			e, part = part, nil
		}
		next = append(next, e)
	}
	if part != nil {
		next = append(next, part)
	}
	Put(d, next, "properties", c.Property)
}

// Part is the document of a part by its name in any letter case.
func (c Collection) Part(d Doc, name string) Doc {
	for _, p := range List(d, "properties", c.Property) {
		if strings.EqualFold(Text(p, "name"), name) {
			return p
		}
	}
	return nil
}

// Write is one change of a resource on its way into the state.
type Write struct {
	*Request
	State *State
	Kind  *Kind
	ID    ID
	// Old is the resource as it is; nil when it is made.
	Old *Resource
	// Doc is the new document, which Prepare completes; nil on a DELETE.
	Doc Doc

	svc *Service
}

// Props are the properties of the new document.
func (w *Write) Props() Doc { return Object(w.Doc, "properties") }

// OldDoc is the document before, empty for a new resource.
func (w *Write) OldDoc() Doc {
	if w.Old == nil {
		return Doc{}
	}
	return w.Old.Doc
}

// Part makes the id of a part of the resource.
func (w *Write) Part(collection, name string) string { return w.ID.Child(collection, name).String() }

// Touch gives a resource a new etag, because something it shows has changed.
func (w *Write) Touch(id ID) {
	if r := w.State.Get(id); r != nil {
		next := *r
		next.Etag = w.svc.newEtag()
		w.State.put(&next)
	}
}

// Replace stores another resource as a consequence of this write.
func (w *Write) Replace(id ID, d Doc) {
	state := Succeeded
	if old := w.State.Get(id); old != nil {
		id, state = old.ID, old.Provisioning
	}
	w.State.put(&Resource{ID: id, Doc: d, Etag: w.svc.newEtag(), Provisioning: state})
}

// Also writes another resource by its own rules, as a consequence of this write.
func (w *Write) Also(id ID, body Doc) *Error { return w.svc.Seed(id, body, w.Now) }

// Remove takes another resource away as a consequence of this write.
func (w *Write) Remove(id ID) {
	old := w.State.remove(id)
	if old == nil {
		return
	}
	gone := *w
	gone.Kind, gone.ID, gone.Old, gone.Doc = w.svc.kinds[strings.ToLower(id.Type())], old.ID, old, nil
	gone.stored()
}

// stored does what follows from a write or a deletion that the state has.
func (w *Write) stored() {
	before, after := w.touched(w.OldDoc()), w.touched(w.Doc)
	for key, id := range before {
		if _, kept := after[key]; !kept {
			w.Touch(id)
		}
	}
	for key, id := range after {
		if _, had := before[key]; !had {
			w.Touch(id)
		}
	}
	if w.Kind.Stored != nil {
		w.Kind.Stored(w)
	}
}

// touched returns the resources that show references of a document, by the target of each.
func (w *Write) touched(d Doc) map[string]ID {
	out := map[string]ID{}
	if w.Kind.Touches == nil {
		return out
	}
	for _, ref := range References(w.ID.String(), d) {
		id, ok := ParseID(ref.To)
		if !ok || !slices.Contains(w.Kind.Touches, ref.Property) {
			continue
		}
		for len(id.Types) > 1 {
			id = id.Parent()
		}
		out[Key(ref.To)] = id
	}
	return out
}

// GUID gives the next of a row of ids that is the same in every run.
func (w *Write) GUID(what string) string { return w.svc.guid(what) }

// OutsideRefs gives the references from elsewhere to the ids and to their parts.
func OutsideRefs(s *State, root string, ids []string) []Ref {
	var out []Ref
	for _, id := range ids {
		for _, ref := range s.ReferredBy(id) {
			if Key(ref.From) != Key(root) && !Within(ref.From, root) {
				out = append(out, ref)
			}
		}
	}
	return out
}
