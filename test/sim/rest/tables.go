package rest

import (
	"maps"
	"slices"
)

// Tables are collections of objects by name. Each object has its identifier under the
// key id. Objects are never changed in place, so a copy of the tables is a copy of all.
type Tables map[string]*table

// table holds the objects of a collection by id, and their order. It indexes objects by the
// text under a key from the first lookup on, since a large cloud has tens of thousands of
// parts.
type table struct {
	byID  map[string]Object
	order []string // including deleted ones, until they are the majority
	place map[string]int
	texts map[string]map[string][]string // ids, by key and text
}

// Clone is a copy that keeps what it has when the other is changed.
func (s Tables) Clone() Tables {
	out := Tables{}
	for c, t := range s {
		out[c] = &table{byID: maps.Clone(t.byID), order: slices.Clone(t.order), place: maps.Clone(t.place)}
	}
	return out
}

func (s Tables) table(c string) *table {
	t := s[c]
	if t == nil {
		t = &table{byID: map[string]Object{}, place: map[string]int{}}
		s[c] = t
	}
	return t
}

// Get is an object by its id.
func (s Tables) Get(c, id string) (Object, bool) {
	o, ok := s.table(c).byID[id]
	return o, ok
}

// Put enters an object, or replaces the one of its id.
func (s Tables) Put(c string, o Object) Object {
	t, id := s.table(c), o.Text("id")
	before, there := t.byID[id]
	if !there {
		t.place[id] = len(t.order)
		t.order = append(t.order, id)
	}
	t.note(id, before, o)
	t.byID[id] = o
	return o
}

// note updates the index of an object's texts; nil stands for an object that does not exist.
func (t *table) note(id string, before, after Object) {
	for key, ids := range t.texts {
		was, is := before.Text(key), after.Text(key)
		if before != nil && after != nil && was == is {
			continue
		}
		if before != nil {
			ids[was] = slices.DeleteFunc(ids[was], func(other string) bool { return other == id })
		}
		if after != nil {
			at, _ := slices.BinarySearchFunc(ids[is], t.place[id], func(other string, place int) int { return t.place[other] - place })
			ids[is] = slices.Insert(ids[is], at, id)
		}
	}
}

// Change replaces some values of an existing object.
func (s Tables) Change(c, id string, values Object) {
	if o, ok := s.Get(c, id); ok {
		s.Put(c, o.With(values))
	}
}

// Drop takes an object away.
func (s Tables) Drop(c, id string) {
	t := s.table(c)
	if o, there := t.byID[id]; there {
		t.note(id, o, nil)
		delete(t.byID, id)
		delete(t.place, id)
	}
	if len(t.order) > 2*len(t.byID) {
		t.order = slices.DeleteFunc(t.order, func(o string) bool { _, there := t.byID[o]; return !there })
		for i, o := range t.order {
			t.place[o] = i
		}
	}
}

// All are the objects of a collection that match, in the order they were made; nil
// matches all.
func (s Tables) All(c string, match func(Object) bool) []Object {
	var out []Object
	t := s.table(c)
	for i, id := range t.order {
		if o, there := t.byID[id]; there && t.place[id] == i && (match == nil || match(o)) {
			out = append(out, o)
		}
	}
	return out
}

// Having are the objects of a collection that have the text under the key, in the order
// they were made.
func (s Tables) Having(c, key, text string) []Object {
	t := s.table(c)
	ids, known := t.texts[key]
	if !known {
		ids = map[string][]string{}
		for _, o := range s.All(c, nil) {
			ids[o.Text(key)] = append(ids[o.Text(key)], o.Text("id"))
		}
		if t.texts == nil {
			t.texts = map[string]map[string][]string{}
		}
		t.texts[key] = ids
	}
	out := make([]Object, 0, len(ids[text]))
	for _, id := range ids[text] {
		out = append(out, t.byID[id])
	}
	return out
}

// Where matches objects by the text of a key.
func Where(key, value string) func(Object) bool {
	return func(o Object) bool { return o.Text(key) == value }
}

// Dump is all objects, for the control API.
func (s Tables) Dump() map[string][]Object {
	out := map[string][]Object{}
	for c := range s {
		if all := s.All(c, nil); len(all) > 0 {
			out[c] = all
		}
	}
	return out
}
