package compute

import (
	"net/http"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// collection is what the service needs to know about one kind of resource; the
// verbs that all kinds share are built from it.
type collection struct {
	name string
	// param is the word of the path parameter, and what one resource is called.
	param string
	// at lists the scopes: "global", "region", "zone".
	at []string
	// prefix names the methods in a scope where they are not called like the collection.
	prefix map[string]string
	schema wire.Schema
	// verbs are "insert", "update", "patch", "delete" as far as there are, by scope. In these
	// scopes are changes and views as well.
	verbs map[string][]string
	// finish checks a document and fills in what the service does; old is nil on insert.
	finish func(c *call, old *entry, doc wire.Object) error
	// patch decides what a patch is allowed to do; nil: it is merged.
	patch func(c *call, old *entry, patch wire.Object) (wire.Object, error)
	// guard checks before a deletion.
	guard func(c *call, e *entry) error
	// gone is called after a deletion.
	gone func(c *call, e *entry)
	// show adds what is not stored.
	show func(c *call, e *entry, doc wire.Object)
	// print is "always" where an update needs the fingerprint, "given" where it is checked when
	// present, and empty where the collection has none.
	print string
	// changes and views are further methods by name, all of them POST. A change gets a copy of
	// the resource, which replaces it; a view is allowed while an operation works on it.
	changes map[string]func(c *call, e *entry) error
	views   map[string]func(c *call, e *entry) (wire.Object, error)
	// quota is the metric that counts the resource; none if it is empty.
	quota func(doc wire.Object) string
}

// withCommonFields adds the fields that every resource has.
func withCommonFields(more wire.Schema) wire.Schema {
	out := wire.Schema{"name": {}, "description": {}}
	for _, name := range []string{"kind", "id", "selfLink", "creationTimestamp", "region", "zone"} {
		out[name] = wire.Field{Output: true}
	}
	return out.With(more)
}

func (col *collection) kind() string { return "compute#" + col.param }

func scopePath(scope string) string {
	if scope == "global" {
		return "projects/{project}/global/"
	}
	return "projects/{project}/" + scope + "s/{" + scope + "}/"
}

func (a *API) serveCollection(col *collection) {
	for _, scope := range col.at {
		id := col.prefix[scope]
		if id == "" {
			id = col.name
		}
		base := scopePath(scope) + col.name
		one := base + "/{" + col.param + "}"
		a.serve(id+".list", http.MethodGet, base, func(c *call) (wire.Object, error) { return c.list(col) })
		a.serve(id+".get", http.MethodGet, one, func(c *call) (wire.Object, error) { return c.show(col) })
		for _, verb := range col.verbs[scope] {
			switch verb {
			case "insert":
				a.serveChange(id+".insert", http.MethodPost, base, func(c *call) error { return c.insert(col) })
			case "update":
				a.serveChange(id+".update", http.MethodPut, one, func(c *call) error { return c.update(col, false) })
			case "patch":
				a.serveChange(id+".patch", http.MethodPatch, one, func(c *call) error { return c.update(col, true) })
			case "delete":
				a.serveChange(id+".delete", http.MethodDelete, one, func(c *call) error { return c.delete(col) })
			}
		}
		if len(col.verbs[scope]) == 0 {
			continue
		}
		for verb, run := range col.changes {
			a.serveChange(id+"."+verb, http.MethodPost, one+"/"+verb, func(c *call) error { return c.change(col, run) })
		}
		for verb, run := range col.views {
			a.serve(id+"."+verb, http.MethodPost, one+"/"+verb, func(c *call) (wire.Object, error) {
				e, err := c.look(c.target(col))
				if err != nil {
					return nil, err
				}
				return run(c, e)
			})
		}
	}
	if len(col.at) > 1 || col.at[0] != "global" {
		a.serve(col.name+".aggregatedList", http.MethodGet, "projects/{project}/aggregated/"+col.name, func(c *call) (wire.Object, error) { return c.aggregate(col) })
	}
}

// target is the resource that the path names.
func (c *call) target(col *collection) wire.Ref {
	name := c.Path[col.param]
	if name == "" {
		name = c.Path["resource"]
	}
	return wire.Ref{Project: c.project(), Scope: c.scope(), Collection: col.name, Name: name}
}

func (c *call) show(col *collection) (wire.Object, error) {
	e, err := c.look(c.target(col))
	if err != nil {
		return nil, err
	}
	return c.render(col, e), nil
}

// change replaces a resource by a copy that is changed.
func (c *call) change(col *collection, run func(c *call, e *entry) error) error {
	old, err := c.find(c.target(col))
	if err != nil {
		return err
	}
	e := &entry{ref: old.ref, doc: old.doc.Clone(), members: slices.Clone(old.members)}
	if err := run(c, e); err != nil {
		return err
	}
	c.store(e)
	return nil
}

func (c *call) render(col *collection, e *entry) wire.Object {
	doc := e.doc.Clone()
	if col.show != nil {
		col.show(c, e, doc)
	}
	return doc.Prune()
}

func (c *call) insert(col *collection) error {
	doc, err := col.schema.Clean(c.Body)
	if err != nil {
		return err
	}
	if doc.Text("name") == "" {
		return wire.Required("resource.name")
	}
	if err := wire.CheckName("resource.name", doc.Text("name")); err != nil {
		return err
	}
	ref := wire.Ref{Project: c.project(), Scope: c.scope(), Collection: col.name, Name: doc.Text("name")}
	if old := c.st.get(ref); old != nil {
		if old.gone {
			return wire.NotReady(ref.Path())
		}
		return wire.Exists(ref.Path())
	}
	c.api.seal(col, ref, doc)
	doc["creationTimestamp"] = formatTime(c.Now)
	e := &entry{ref: ref, doc: doc}
	if err := col.finish(c, nil, doc); err != nil {
		return err
	}
	if err := c.checkQuota(col, doc); err != nil {
		return err
	}
	c.store(e)
	return nil
}

// seal gives a document what the server gives all: kind, number and links.
func (a *API) seal(col *collection, ref wire.Ref, doc wire.Object) {
	doc["kind"] = col.kind()
	doc["id"] = a.newID(ref.Path())
	doc["selfLink"] = ref.URL()
	key, _, _ := strings.Cut(ref.Scope, "s/")
	if key != "global" {
		doc[key] = wire.SelfBase + "projects/" + ref.Project + "/" + ref.Scope
	}
	if col.print != "" {
		doc["fingerprint"] = ""
	}
}

func (c *call) update(col *collection, patch bool) error {
	old, err := c.find(c.target(col))
	if err != nil {
		return err
	}
	body, err := col.schema.Clean(c.Body)
	if err != nil {
		return err
	}
	if name := body.Text("name"); name != "" && name != old.ref.Name {
		return wire.Invalid("resource.name", name, "The name must be '%s'.", old.ref.Name)
	}
	if err := checkPrint(col, old, body); err != nil {
		return err
	}
	doc := wire.Object{}
	switch {
	case patch && col.patch != nil:
		if doc, err = col.patch(c, old, body); err != nil {
			return err
		}
	case patch:
		doc = old.doc.Merge(body)
	default:
		for name, v := range old.doc {
			if col.schema[name].Output || name == "name" || name == "fingerprint" {
				doc[name] = v
			}
		}
		doc = doc.Merge(body)
	}
	if err := col.finish(c, old, doc); err != nil {
		return err
	}
	c.store(&entry{ref: old.ref, doc: doc, members: old.members})
	return nil
}

// checkPrint compares the fingerprint that a change is based on.
func checkPrint(col *collection, old *entry, body wire.Object) error {
	given := body.Text("fingerprint")
	if col.print == "" || (given == "" && col.print == "given") {
		return nil
	}
	if given != old.doc.Text("fingerprint") {
		return wire.Condition("Invalid fingerprint.")
	}
	return nil
}

func (c *call) delete(col *collection) error {
	e, err := c.find(c.target(col))
	if err != nil {
		return err
	}
	if col.guard != nil {
		if err := col.guard(c, e); err != nil {
			return err
		}
	}
	c.drop(e)
	if col.gone != nil {
		col.gone(c, e)
	}
	return nil
}

// link is a field, or several, that may hold the URL of another resource.
type link struct {
	collection string
	urls       func(wire.Object) []string
}

func fieldValues(names ...string) func(wire.Object) []string {
	return func(o wire.Object) []string {
		var out []string
		for _, name := range names {
			out = append(append(out, o.Text(name)), o.Texts(name)...)
		}
		return out
	}
}

// requireUnused returns a guard that refuses to delete resources which the links
// reference.
func requireUnused(links ...link) func(c *call, e *entry) error {
	return func(c *call, e *entry) error {
		for _, l := range links {
			if users := c.users(l.collection, l.urls, e.ref.URL()); len(users) > 0 {
				return wire.InUse(wire.Noun(e.ref.Collection), e.ref.Path(), users[0].ref.Path())
			}
		}
		return nil
	}
}

// checkImmutable refuses a change of fields that are immutable.
func checkImmutable(old *entry, doc wire.Object, fields ...string) error {
	if old == nil {
		return nil
	}
	for _, name := range fields {
		if doc.Has(name) && doc.Text(name) != old.doc.Text(name) {
			return wire.Invalid("resource."+name, doc.Text(name), "The field cannot be changed.")
		}
		if old.doc.Has(name) {
			doc[name] = old.doc[name]
		}
	}
	return nil
}

func checkRange(field string, n, low, high float64) error {
	if n < low || n > high {
		return wire.Invalid(field, n, "Must be between %v and %v.", low, high)
	}
	return nil
}

func oneOf(field, value string, legal ...string) error {
	if !slices.Contains(legal, value) {
		return wire.Invalid(field, value, "Must be one of [%s]", strings.Join(legal, ", "))
	}
	return nil
}
