package compute

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

func byName(o wire.Object) string { return o.Text("name") }

func (c *call) list(col *collection) (wire.Object, error) {
	var docs []wire.Object
	for _, e := range c.st.all(c.project(), c.scope(), col.name) {
		docs = append(docs, c.render(col, e))
	}
	path := wire.Ref{Project: c.project(), Scope: c.scope(), Collection: col.name}.Parent()
	return c.listOf(path, col.kind()+"List", docs, byName)
}

// listOf pages over documents and dresses the page as a list.
func (c *call) listOf(path, kind string, docs []wire.Object, key func(wire.Object) string) (wire.Object, error) {
	options, err := wire.ParseList(c.Query)
	if err != nil {
		return nil, err
	}
	page, next := options.Page(docs, key)
	out := wire.Object{"kind": kind, "id": path, "selfLink": wire.SelfBase + path, "items": toAnySlice(page)}
	if next != "" {
		out["nextPageToken"] = next
	}
	return out.Prune(), nil
}

func toAnySlice(docs []wire.Object) []any {
	out := make([]any, 0, len(docs))
	for _, d := range docs {
		out = append(out, d)
	}
	return out
}

// aggregate lists a collection over all of its scopes. Scopes that the request
// cannot reach come as a warning if the caller takes an answer with holes.
func (c *call) aggregate(col *collection) (wire.Object, error) {
	var docs []wire.Object
	var scopes []string
	for _, scope := range c.api.scopes() {
		kind := strings.TrimSuffix(strings.Split(scope, "/")[0], "s")
		if !slices.Contains(col.at, kind) {
			continue
		}
		scopes = append(scopes, scope)
		if slices.Contains(c.Unreachable, scope) {
			continue
		}
		for _, e := range c.st.all(c.project(), scope, col.name) {
			docs = append(docs, c.render(col, e))
		}
	}
	return c.byScope(col, docs, scopes)
}

// byScope pages over documents and dresses the page as a list over scopes.
func (c *call) byScope(col *collection, docs []wire.Object, scopes []string) (wire.Object, error) {
	options, err := wire.ParseList(c.Query)
	if err != nil {
		return nil, err
	}
	if len(c.Unreachable) > 0 && !options.Partial {
		return nil, &wire.Error{Status: 503, Reason: "backendError", Code: "INTERNAL_ERROR", Message: "Backend Error: unreachable: " + strings.Join(c.Unreachable, ", ")}
	}
	page, next := options.Page(docs, func(o wire.Object) string { return scopeOf(o) + " " + o.Text("name") })
	found := map[string][]any{}
	for _, d := range page {
		found[scopeOf(d)] = append(found[scopeOf(d)], d)
	}
	items := wire.Object{}
	var holes []string
	for _, scope := range scopes {
		switch {
		case slices.Contains(c.Unreachable, scope):
			holes = append(holes, wire.SelfBase+"projects/"+c.project()+"/"+scope)
			items[scope] = scopeWarning("UNREACHABLE", "The scope '"+scope+"' cannot be reached.", scope)
		case len(found[scope]) == 0:
			items[scope] = scopeWarning("NO_RESULTS_ON_PAGE", "There are no results for scope '"+scope+"' on this page.", scope)
		default:
			items[scope] = wire.Object{col.name: found[scope]}
		}
	}
	path := "projects/" + c.project() + "/aggregated/" + col.name
	out := wire.Object{"kind": aggregatedKind(col.kind()), "id": path, "selfLink": wire.SelfBase + path, "items": items, "unreachables": wire.Texts(holes...)}
	if next != "" {
		out["nextPageToken"] = next
	}
	return out.Prune(), nil
}

// aggregatedKind is the kind of the list; one collection writes it in its own way.
func aggregatedKind(kind string) string {
	if kind == "compute#healthCheck" {
		return "compute#healthChecksAggregatedList"
	}
	return kind + "AggregatedList"
}

func scopeWarning(code, message, scope string) wire.Object {
	return wire.Object{"warning": wire.Object{"code": code, "message": message, "data": []any{wire.Object{"key": "scope", "value": scope}}}}
}

// scopeOf reads the scope out of a document's links.
func scopeOf(o wire.Object) string {
	for _, key := range []string{"zone", "region"} {
		if url := o.Text(key); url != "" {
			return key + "s/" + url[strings.LastIndex(url, "/")+1:]
		}
	}
	return "global"
}
