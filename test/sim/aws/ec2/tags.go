package ec2

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// Source: EC2 user guide, tag restrictions, and API reference, Tag.
const (
	maxTags     = 50
	maxTagKey   = 128
	maxTagValue = 256
	maxTagged   = 1000
)

type tagXML struct {
	Key   string `xml:"key"`
	Value string `xml:"value"`
}

// tagsXML gives nil for a resource without tags: EC2 leaves the element out.
func (c *call) tagsXML(id string) []tagXML {
	var out []tagXML
	for _, k := range slices.Sorted(maps.Keys(c.st.tags[id])) {
		out = append(out, tagXML{k, c.st.tags[id][k]})
	}
	return out
}

// tagsShown is tagsXML for the kinds that show an empty list as well.
func (c *call) tagsShown(id string) []tagXML { return append([]tagXML{}, c.tagsXML(id)...) }

func checkTag(key, value string) error {
	switch {
	case key == "":
		return query.Errorf("InvalidTagKey.Malformed", "Tag key cannot be null or empty")
	case strings.HasPrefix(strings.ToLower(key), "aws:"):
		return query.Errorf("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use")
	case utf8.RuneCountInString(key) > maxTagKey:
		return query.Errorf("InvalidParameterValue", "Tag key exceeds the maximum length of %d characters", maxTagKey)
	case utf8.RuneCountInString(value) > maxTagValue:
		return query.Errorf("InvalidParameterValue", "Tag value exceeds the maximum length of %d characters", maxTagValue)
	}
	return nil
}

// readTags reads Tag.N of one structure.
func readTags(p query.Params) (Tags, error) {
	out := Tags{}
	for _, t := range p.List("Tag") {
		key, value := t.Str("Key"), t.Str("Value")
		if err := checkTag(key, value); err != nil {
			return nil, err
		}
		if _, twice := out[key]; twice {
			return nil, query.Errorf("InvalidParameterValue", "Duplicate tag key '%s' specified.", key)
		}
		out[key] = value
	}
	if len(out) > maxTags {
		return nil, tooManyTags()
	}
	return out, nil
}

func tooManyTags() error {
	return query.Errorf("TagLimitExceeded", "The maximum number of Tags has been reached.")
}

// tagSpecs reads TagSpecification.N; only the given resource types are allowed.
func tagSpecs(c *call, types ...string) (map[string]Tags, error) {
	out := map[string]Tags{}
	for _, spec := range c.List("TagSpecification") {
		kind := spec.Str("ResourceType")
		if kind == "" {
			return nil, query.Errorf("InvalidParameterValue", "Tag specification resource type must have a value")
		}
		if !slices.Contains(types, kind) {
			return nil, query.Errorf("InvalidParameterValue", "'%s' is not a valid taggable resource type for this operation.", kind)
		}
		tags, err := readTags(spec)
		if err != nil {
			return nil, err
		}
		if len(tags) == 0 {
			return nil, query.Errorf("InvalidParameterValue", "Tag specification must have at least one tag")
		}
		maps.Copy(tags, out[kind])
		out[kind] = tags
	}
	return out, nil
}

func (c *call) setTags(id string, tags Tags) {
	if len(tags) > 0 {
		c.st.tags[id] = maps.Clone(tags)
	}
}

// taggable checks that a resource exists, with the error of its kind.
func (c *call) taggable(id string) error {
	for _, k := range idKinds() {
		if !strings.HasPrefix(id, k.prefix+"-") || k.prefix == "pl" { // prefix lists carry no tags here
			continue
		}
		if err := k.check(id); err != nil {
			return err
		}
		if !c.exists(k, id) {
			return k.missing(id)
		}
		return nil
	}
	return query.Errorf("InvalidID", "The ID '%s' is not valid", id)
}

func (c *call) exists(k idKind, id string) bool {
	if k.prefix == "sgr" {
		return slices.ContainsFunc(c.allRules(), func(r groupRule) bool { return r.ID == id })
	}
	g, ok := c.st.groups[id]
	if ok {
		return isVisible(g, c.Now, c.opt.NewGroupDelay)
	}
	return hasKey(c.st.vpcs, id) || hasKey(c.st.subnets, id) || hasKey(c.st.instances, id) || hasKey(c.st.interfaces, id) ||
		hasKey(c.st.addresses, id) || hasKey(c.st.tables, id)
}

func hasKey[T any](m map[string]T, id string) bool {
	_, ok := m[id]
	return ok
}

// tagTargets reads ResourceId.N and checks them all before anything is changed.
func (c *call) tagTargets() ([]string, error) {
	ids := c.Strs("ResourceId")
	if len(ids) == 0 {
		return nil, missingParameter("ResourceIdSet")
	}
	if len(ids) > maxTagged {
		return nil, query.Errorf("InvalidParameterValue", "The maximum number of resources is %d", maxTagged)
	}
	for _, id := range ids {
		if err := c.taggable(id); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func createTags(c *call) (any, error) {
	ids, err := c.tagTargets()
	if err != nil {
		return nil, err
	}
	tags, err := readTags(c.Params)
	if err != nil {
		return nil, err
	}
	if len(tags) == 0 {
		return nil, missingParameter("TagSet")
	}
	merged := map[string]Tags{}
	for _, id := range ids {
		all := maps.Clone(c.st.tags[id])
		if all == nil {
			all = Tags{}
		}
		maps.Copy(all, tags)
		if userTags(all) > maxTags {
			return nil, tooManyTags()
		}
		merged[id] = all
	}
	maps.Copy(c.st.tags, merged)
	return nil, nil
}

// userTags counts the tags that count against the limit: Amazon's own do not.
func userTags(tags Tags) int {
	n := 0
	for k := range tags {
		if !strings.HasPrefix(k, "aws:") {
			n++
		}
	}
	return n
}

// deleteTags removes a key whatever its value if no value was sent, and only
// with that very value otherwise, the empty one included. Without any tag all
// go. Source: EC2 API reference, DeleteTags.
func deleteTags(c *call) (any, error) {
	ids, err := c.tagTargets()
	if err != nil {
		return nil, err
	}
	wanted := c.List("Tag")
	for _, t := range wanted {
		if err := checkTag(t.Str("Key"), ""); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		kept := Tags{}
		for k, v := range c.st.tags[id] {
			if !tagGoes(wanted, k, v) {
				kept[k] = v
			}
		}
		c.st.tags[id] = kept
	}
	return nil, nil
}

func tagGoes(wanted []query.Params, key, value string) bool {
	if len(wanted) == 0 {
		return !strings.HasPrefix(key, "aws:")
	}
	return slices.ContainsFunc(wanted, func(t query.Params) bool {
		return t.Str("Key") == key && (!t.Has("Value") || t.Str("Value") == value)
	})
}

// TagsOf returns the tags of a resource by its id, and whether it exists.
func (a *API) TagsOf(id string) (map[string]string, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	c := &call{Request: &query.Request{Now: a.opt.Clock.Now()}, st: a.st, opt: &a.opt}
	return maps.Clone(a.st.tags[id]), c.taggable(id) == nil
}
