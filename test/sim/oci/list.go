package oci

import (
	"encoding/base64"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/rest"
)

// listOf answers the objects of a collection in a compartment, a page at a time. The
// names are query parameters that must be equal to the key of that name if given.
func listOf(collection string, show func(*state, rest.Object) rest.Object, wrapped bool, names ...string) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		query := v.HTTP.URL.Query()
		compartment := query.Get("compartmentId")
		if compartment == "" {
			return nil, missingParam("compartmentId")
		}
		if _, ok := v.State.Get(compartments, compartment); !ok {
			return nil, notFound("compartment", compartment)
		}
		all := v.State.All(collection, func(o rest.Object) bool {
			return o.Text("compartmentId") == compartment && !slices.ContainsFunc(names, func(name string) bool {
				return query.Has(name) && query.Get(name) != o.Text(name)
			})
		})
		return v.page(all, show, wrapped)
	}
}

// page answers the part of a list that is asked for.
func (v *visit) page(all []rest.Object, show func(*state, rest.Object) rest.Object, wrapped bool) (any, error) {
	query, limit, from := v.HTTP.URL.Query(), v.cloud.opt.Page, 0
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1000 {
			return nil, invalidParam("limit %q: must be a number from 1 to 1000", text)
		}
		limit = min(limit, n)
	}
	if text := query.Get("page"); text != "" {
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			return nil, invalidParam("page %q is not known", text)
		}
		last := string(raw)
		from = slices.IndexFunc(all, func(o rest.Object) bool { return o.Text("id") == last })
		if from < 0 {
			return nil, invalidParam("page %q is not known", text)
		}
	}
	if from+limit < len(all) {
		v.Answer.Header.Set("Opc-Next-Page", base64.RawURLEncoding.EncodeToString([]byte(all[from+limit].Text("id"))))
	}
	items := []rest.Object{}
	for _, o := range all[from:min(len(all), from+limit)] {
		items = append(items, show(v.State, o))
	}
	if wrapped {
		return rest.Object{"items": items}, nil
	}
	return items, nil
}

// readObject answers an object, with its etag.
func readObject(collection, what string, show func(*state, rest.Object) rest.Object) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		o, ok := v.State.Get(collection, v.Params["id"])
		if !ok {
			return nil, notFound(what, v.Params["id"])
		}
		v.tag(o)
		return show(v.State, o), nil
	}
}

// tag puts the version of an object into the answer. Work requests have none.
func (v *visit) tag(o rest.Object) {
	if version := o.Text(etag); version != "" {
		v.Answer.Header.Set("Etag", version)
	}
}

// asIs shows an object as it is stored.
func asIs(_ *state, o rest.Object) rest.Object { return o.Without(etag, holder) }
