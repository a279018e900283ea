package openstack

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// pageSize is the largest page of the load balancer API.
// Source: Octavia configuration reference, pagination_max_limit of the oracle's release.
const pageSize = 1000

// listOf answers a list call: what matches the query, page by page.
func listOf(c collection, render func(*state, Object) Object) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		query := v.HTTP.URL.Query()
		if v.Service == apiOctavia {
			for key, values := range query {
				if len(values) > 1 && key != "fields" {
					// Source: a real Octavia, which hands a list to its database.
					return nil, rest.Refuse(http.StatusInternalServerError, "InterfaceError", "Error binding parameter")
				}
			}
		}
		var found []Object
		for _, o := range v.State.All(c, nil) {
			shown := render(v.State, o)
			if matchesQuery(shown, query) {
				found = append(found, shown)
			}
		}
		return v.page(c, found, query), nil
	}
}

// page is one page of a list, with a link to the next one.
func (v *visit) page(c collection, found []Object, query url.Values) Object {
	limit, _ := strconv.Atoi(query.Get("limit"))
	if v.Service == apiOctavia && (limit <= 0 || limit > pageSize) {
		limit = pageSize
	}
	if marker := query.Get("marker"); marker != "" {
		at := slices.IndexFunc(found, rest.Where("id", marker))
		found = found[at+1:]
	}
	out := Object{}
	key := strings.ReplaceAll(string(c), "-", "_")
	if v.Service == apiOctavia {
		out[key+"_links"] = []any{}
	}
	// Octavia links to a next page when this one is full, which may be an empty one.
	if full := limit > 0 && len(found) == limit && v.Service == apiOctavia; full || limit > 0 && len(found) > limit {
		found = found[:limit]
		next := *v.HTTP.URL
		next.Scheme, next.Host = "http", v.HTTP.Host
		q := next.Query()
		q.Set("marker", found[limit-1].Text("id"))
		q.Set("limit", strconv.Itoa(limit))
		next.RawQuery = q.Encode()
		out[key+"_links"] = []any{Object{"rel": "next", "href": next.String()}}
	}
	shown := []any{}
	for _, o := range found {
		if fields := query["fields"]; len(fields) > 0 {
			o = o.Only(strings.Split(strings.Join(fields, ","), ",")...)
		}
		shown = append(shown, o)
	}
	out[key] = shown
	return out
}

// matchesQuery reports whether an object passes the filters of a list call.
func matchesQuery(o Object, query url.Values) bool {
	for key, values := range query {
		switch key {
		case "limit", "marker", "fields", "sort_key", "sort_dir", "sort", "page_reverse":
		case "tags", "tags-any", "not-tags", "not-tags-any":
			if !matchesTags(o.Texts("tags"), key, strings.Split(values[0], ",")) {
				return false
			}
		default:
			if !slices.ContainsFunc(values, func(want string) bool { return hasValue(o, key, want) }) {
				return false
			}
		}
	}
	return true
}

// matchesTags judges tags as Neutron does: the negated forms drop what has all, or any,
// of the tags. Source: Neutron API reference, filtering by tags.
func matchesTags(have []string, how string, want []string) bool {
	has := func(t string) bool { return slices.Contains(have, t) }
	lacks := func(t string) bool { return !has(t) }
	switch how {
	case "tags":
		return !slices.ContainsFunc(want, lacks)
	case "tags-any":
		return slices.ContainsFunc(want, has)
	case "not-tags":
		return slices.ContainsFunc(want, lacks)
	}
	return !slices.ContainsFunc(want, has)
}

// hasValue compares a key as texts; of a list one member counts, and of references
// their ids.
func hasValue(o Object, key, want string) bool {
	switch key {
	case "loadbalancer_id", "listener_id", "pool_id":
		if ref := strings.TrimSuffix(key, "_id") + "s"; o[ref] != nil {
			return slices.ContainsFunc(o.Objects(ref), rest.Where("id", want))
		}
	}
	switch value := o[key].(type) {
	case nil:
		return want == "" || want == "None"
	case []any:
		return slices.ContainsFunc(value, func(one any) bool { return fmt.Sprint(one) == want })
	default:
		return strings.EqualFold(fmt.Sprint(value), want)
	}
}

// readObject answers a read of a single object.
func readObject(c collection, key, what string, render func(*state, Object) Object) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		o, ok := v.State.Get(c, v.Params["id"])
		if !ok {
			return nil, v.missing(what, v.Params["id"])
		}
		return Object{key: render(v.State, o)}, nil
	}
}

// missing returns the API's error for an unknown id.
func (v *visit) missing(what, id string) *rest.Error {
	if v.Service == apiNeutron {
		return rest.Refuse(http.StatusNotFound, strings.ReplaceAll(what, " ", "")+"NotFound", "%s %s could not be found.", what, id)
	}
	return notFound(what, id)
}

// asIs shows an object as it is stored.
func asIs(_ *state, o Object) Object { return o }
