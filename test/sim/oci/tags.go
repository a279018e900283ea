package oci

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

// tagSchema returns the properties of tags.
func tagSchema() schema {
	return schema{"freeformTags": freeProp(), "definedTags": freeProp(), "securityAttributes": freeProp()}
}

// definedTags are the namespaces of defined tags with their keys. That of the container
// engine is Oracle's own, and only its service may set it.
func definedTagKeys() map[string][]string {
	return map[string][]string{tagNamespace: {"CostCenter", "Environment"}}
}

// checkTags refuses tags that cannot be, and puts in empty ones.
// Source: Tagging documentation, "Limits on Tags" and "Working with Defined Tags".
func (v *visit) checkTags(o rest.Object) (rest.Object, error) {
	limits, out := v.cloud.opt.Limits, rest.Object{"freeformTags": rest.Object{}, "definedTags": rest.Object{}}
	for _, key := range []string{"freeformTags", "definedTags"} {
		if o[key] == nil {
			continue
		}
		tags, ok := rest.AsObject(o[key])
		if !ok {
			return nil, invalidParam("%s must be an object", key)
		}
		out[key] = tags
	}
	for k, value := range out.Object("freeformTags") {
		s, ok := value.(string)
		if !ok || k == "" || len(k) > 100 || len(s) > 256 {
			return nil, invalidParam("freeformTags %q: keys have 1 to 100 characters, values are texts of at most 256", k)
		}
	}
	if n := len(out.Object("freeformTags")); n > limits.FreeformTags {
		return nil, tooMany("free-form tags", limits.FreeformTags)
	}
	if err := checkDefined(out.Object("definedTags"), limits.DefinedTags); err != nil {
		return nil, err
	}
	return o.With(out), nil
}

func checkDefined(tags rest.Object, most int) error {
	n := 0
	for namespace, inner := range tags {
		keys, ok := rest.AsObject(inner)
		if !ok {
			return invalidParam("definedTags.%s must be an object", namespace)
		}
		for k := range keys {
			if !slices.Contains(definedTagKeys()[namespace], k) {
				return relatedNotFound("tag", namespace+"."+k)
			}
			n++
		}
	}
	if n > most {
		return tooMany("defined tags", most)
	}
	return nil
}
