package lbkit

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// Tag is one tag of a resource. Lengths and characters are those of both service models.
type Tag struct {
	Key   string `required:"true" length:"1..128" pattern:"^([\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*)$"`
	Value string `length:"0..256" pattern:"^([\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*)$"`
}

// Tagged is the tags of a request that creates a resource.
type Tagged struct {
	Tags []Tag `count:"1.."`
}

// MergeTags adds tags to the existing tags of a resource. A repeated or reserved key and more
// than limit tags are refused; then nothing is merged.
func MergeTags(old, add []Tag, limit int) ([]Tag, error) {
	out := slices.Clone(old)
	seen := map[string]bool{}
	for _, t := range add {
		if seen[t.Key] {
			return nil, query.Errorf("DuplicateTagKeys", "Tag key was specified more than once: %s", t.Key)
		}
		seen[t.Key] = true
		if strings.HasPrefix(strings.ToLower(t.Key), "aws:") {
			return nil, query.Errorf("ValidationError", "aws: prefixed tag key names are not allowed for external use")
		}
		i := slices.IndexFunc(out, func(o Tag) bool { return o.Key == t.Key })
		if i >= 0 {
			out[i].Value = t.Value
			continue
		}
		out = append(out, t)
	}
	if len(out) > limit {
		return nil, query.Errorf("TooManyTags", "The quota for the number of tags that can be assigned to a load balancer has been reached")
	}
	return out, nil
}

// AddTags adds tags to the existing ones of several resources, to all of them or to none.
func AddTags(have []*[]Tag, add []Tag, limit int) error {
	merged := make([][]Tag, len(have))
	for i, at := range have {
		var err error
		if merged[i], err = MergeTags(*at, add, limit); err != nil {
			return err
		}
	}
	for i, at := range have {
		*at = merged[i]
	}
	return nil
}

// DropTags removes keys; missing keys are ignored.
func DropTags(old []Tag, keys []string) []Tag {
	return slices.DeleteFunc(slices.Clone(old), func(t Tag) bool { return slices.Contains(keys, t.Key) })
}

// SameTags compares two sets of tags, whatever their order.
func SameTags(a, b []Tag) bool {
	if len(a) != len(b) {
		return false
	}
	return !slices.ContainsFunc(a, func(t Tag) bool { return !slices.Contains(b, t) })
}

// TagMap gives tags by their keys.
func TagMap(tags []Tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[t.Key] = t.Value
	}
	return out
}
