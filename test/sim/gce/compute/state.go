package compute

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// entry is one resource. It is replaced as a whole and never changed, so that
// earlier states can share it.
type entry struct {
	ref wire.Ref
	doc wire.Object
	// members are the instances of a group or the endpoints of an endpoint group.
	members []member
	// ready is when the last operation on it ends; gone is whether it ends then too.
	ready time.Time
	gone  bool
}

// member is an instance in a group, or an endpoint.
type member struct {
	instance wire.Ref
	endpoint wire.Object
	// leaves is when a draining endpoint is no longer listed.
	leaves time.Time
}

// state holds every resource by the path of its collection and by name.
type state struct {
	items map[string]map[string]*entry
	// leaving are the entries that go when they are ready.
	leaving map[string]*entry
}

func newState() *state {
	return &state{items: map[string]map[string]*entry{}, leaving: map[string]*entry{}}
}

func (s *state) clone() *state {
	out := newState()
	for path, items := range s.items {
		out.items[path] = maps.Clone(items)
	}
	out.leaving = maps.Clone(s.leaving)
	return out
}

func (s *state) advance(now time.Time) {
	for path, e := range s.leaving {
		if !e.ready.After(now) {
			delete(s.leaving, path)
			s.remove(e.ref)
		}
	}
}

func (s *state) get(ref wire.Ref) *entry {
	items := s.items[ref.Parent()]
	if e := items[ref.Name]; e != nil {
		return e
	}
	if _, err := strconv.ParseUint(ref.Name, 10, 64); err != nil {
		return nil
	}
	// Every resource can also be called by its number.
	for _, e := range items {
		if e.doc.Text("id") == ref.Name {
			return e
		}
	}
	return nil
}

func (s *state) put(e *entry) {
	items := s.items[e.ref.Parent()]
	if items == nil {
		items = map[string]*entry{}
		s.items[e.ref.Parent()] = items
	}
	items[e.ref.Name] = e
	if e.gone {
		s.leaving[e.ref.Path()] = e
	}
}

func (s *state) remove(ref wire.Ref) { delete(s.items[ref.Parent()], ref.Name) }

// all gives the entries of a collection in the order of their names.
func (s *state) all(project, scope, collection string) []*entry {
	items := s.items[wire.Ref{Project: project, Scope: scope, Collection: collection}.Parent()]
	out := make([]*entry, 0, len(items))
	for _, name := range slices.Sorted(maps.Keys(items)) {
		out = append(out, items[name])
	}
	return out
}

// each visits the entries of a collection in all scopes of all projects, in no order, until
// visit returns false.
func (s *state) each(collection string, visit func(*entry) bool) {
	for path, items := range s.items {
		if !strings.HasSuffix(path, "/"+collection) {
			continue
		}
		for _, e := range items {
			if !visit(e) {
				return
			}
		}
	}
}

// find gets a resource that a request refers to: it must be there, and no
// operation may work on it.
func (c *call) find(ref wire.Ref) (*entry, error) {
	e := c.st.get(ref)
	if e == nil {
		return nil, wire.NotFound(ref.Path())
	}
	if e.ready.After(c.Now) {
		return nil, wire.NotReady(ref.Path())
	}
	return e, nil
}

// resolve finds the resource of a collection that a field refers to.
func (c *call) resolve(text, collection, field string) (*entry, error) {
	ref, err := wire.ParseRef(text, c.project(), collection, field)
	if err != nil {
		return nil, err
	}
	return c.find(ref)
}

// follow returns the resource of a collection that a URL leads to; nil if there is none.
func (c *call) follow(url, collection string) *entry {
	ref, err := wire.ParseRef(url, c.project(), collection, collection)
	if err != nil {
		return nil
	}
	return c.st.get(ref)
}

// look gets a resource that a request asks about, also while an operation works on
// it.
func (c *call) look(ref wire.Ref) (*entry, error) {
	if e := c.st.get(ref); e != nil {
		return e, nil
	}
	return nil, wire.NotFound(ref.Path())
}

// store replaces a resource, or adds it, and gives it the fingerprint of its contents.
func (c *call) store(e *entry) {
	e.ready = c.Now.Add(c.takes())
	if e.doc.Has("fingerprint") {
		e.doc["fingerprint"] = e.contents()
	}
	c.st.put(e)
}

// contents returns the fingerprint of all mutable fields.
func (e *entry) contents() string {
	o := e.doc.Clone()
	for i, m := range e.members {
		o[fmt.Sprintf("member-%d", i)] = m.instance.Path()
	}
	return o.Fingerprint("fingerprint")
}

// drop deletes a resource now, or when the operation ends.
func (c *call) drop(e *entry) {
	if c.takes() == 0 {
		c.st.remove(e.ref)
		return
	}
	out := *e
	out.gone, out.ready = true, c.Now.Add(c.takes())
	c.st.put(&out)
}

// users gives the resources of a collection that have the URL in a field.
func (c *call) users(collection string, links func(wire.Object) []string, url string) []*entry {
	var out []*entry
	c.st.each(collection, func(e *entry) bool {
		if slices.Contains(links(e.doc), url) {
			out = append(out, e)
		}
		return true
	})
	slices.SortFunc(out, func(a, b *entry) int { return strings.Compare(a.ref.Path(), b.ref.Path()) })
	return out
}

// rulesOf gives the forwarding rules that send to a backend service or a target pool.
func (c *call) rulesOf(url string) []*entry {
	if c.linked == nil {
		c.linked = map[string][]*entry{}
		c.st.each("forwardingRules", func(e *entry) bool {
			for _, name := range []string{"backendService", "target"} {
				if to := e.doc.Text(name); to != "" {
					c.linked[to] = append(c.linked[to], e)
				}
			}
			return true
		})
		for _, list := range c.linked {
			slices.SortFunc(list, func(a, b *entry) int { return strings.Compare(a.ref.Path(), b.ref.Path()) })
		}
	}
	return c.linked[url]
}

// newID gives a number that no other resource has.
func (a *API) newID(path string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(path)) // a hash takes everything
	a.seq++
	return strconv.FormatUint(1_000_000_000_000_000_000+(h.Sum64()+a.seq*2654435761)%8_000_000_000_000_000_000, 10)
}

// formatTime formats a time as the API does.
func formatTime(t time.Time) string {
	return t.In(time.FixedZone("PDT", -7*60*60)).Format("2006-01-02T15:04:05.000-07:00")
}
