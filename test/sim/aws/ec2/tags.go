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

type tagSet = query.Items[tagXML]

// tagsXML gives nil for a resource without tags: EC2 leaves the element out.
func (c *call) tagsXML(id string) *tagSet {
	tags := c.st.tags[id]
	if len(tags) == 0 {
		return nil
	}
	set := &tagSet{}
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		set.Item = append(set.Item, tagXML{k, tags[k]})
	}
	return set
}

// tagsShown is tagsXML for the kinds that show an empty list as well.
func (c *call) tagsShown(id string) *tagSet {
	if set := c.tagsXML(id); set != nil {
		return set
	}
	return &tagSet{}
}

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

// tagSpecCode is the error code for wrong tags of new resources: networks have
// one of their own. Sources: getmoto/moto:tests/test_ec2/test_tags.py,
// github.com/boto/boto3 issue 1806, github.com/yegor256/rultor issue 1991.
func tagSpecCode(types []string) string {
	networks := []string{"vpc", "subnet", "route-table", "internet-gateway", "natgateway"}
	if slices.ContainsFunc(types, func(t string) bool { return slices.Contains(networks, t) }) {
		return "InvalidParameter"
	}
	return "InvalidParameterValue"
}

// tagSpecs reads TagSpecification.N; only the given resource types are allowed.
func tagSpecs(c *call, types ...string) (map[string]Tags, error) {
	out := map[string]Tags{}
	code := tagSpecCode(types)
	for _, spec := range c.List("TagSpecification") {
		kind := spec.Str("ResourceType")
		if kind == "" {
			return nil, query.Errorf(code, "Tag specification resource type must have a value")
		}
		if !slices.Contains(types, kind) {
			return nil, query.Errorf(code, "'%s' is not a valid taggable resource type for this operation.", kind)
		}
		tags, err := readTags(spec)
		if err != nil {
			return nil, err
		}
		if len(tags) == 0 {
			return nil, query.Errorf(code, "Tag specification must have at least one tag")
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
		if !strings.HasPrefix(id, k.prefix+"-") {
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
	var ok bool
	switch k.prefix {
	case "vpc":
		_, ok = c.st.vpcs[id]
	case "subnet":
		_, ok = c.st.subnets[id]
	case "sg":
		var g Group
		g, ok = c.st.groups[id]
		ok = ok && visible(g, c.Now, c.opt.NewGroupDelay)
	case "sgr":
		ok = slices.ContainsFunc(c.allRules(), func(r groupRule) bool { return r.ID == id })
	case "i":
		_, ok = c.st.instances[id]
	case "eni":
		_, ok = c.st.interfaces[id]
	case "eipalloc":
		_, ok = c.st.addresses[id]
	case "igw":
		_, ok = c.st.gateways[id]
	case "rtb":
		_, ok = c.st.tables[id]
	case "pl":
		_, ok = c.st.lists[id]
	case "nat":
		_, ok = c.st.nats[id]
	}
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

type tagRow struct {
	ResourceID   string `xml:"resourceId"`
	ResourceType string `xml:"resourceType"`
	Key          string `xml:"key"`
	Value        string `xml:"value"`
}

func describeTags(c *call) (any, error) {
	var rows []tagRow
	for _, id := range slices.Sorted(maps.Keys(c.st.tags)) {
		for _, key := range slices.Sorted(maps.Keys(c.st.tags[id])) {
			rows = append(rows, tagRow{id, resourceType(id), key, c.st.tags[id][key]})
		}
	}
	page, next, err := describe(c, listing[tagRow]{
		id: func(r tagRow) string { return r.ResourceID + "\x00" + r.Key },
		props: properties[tagRow]{
			"key":           func(_ *call, r tagRow) []string { return []string{r.Key} },
			"value":         func(_ *call, r tagRow) []string { return []string{r.Value} },
			"tag-key":       func(_ *call, r tagRow) []string { return []string{r.Key} },
			"tag-value":     func(_ *call, r tagRow) []string { return []string{r.Value} },
			"resource-id":   func(_ *call, r tagRow) []string { return []string{r.ResourceID} },
			"resource-type": func(_ *call, r tagRow) []string { return []string{r.ResourceType} },
		},
		objects: rows,
	})
	if err != nil {
		return nil, err
	}
	return struct {
		Tags query.Items[tagRow] `xml:"tagSet"`
		Next string              `xml:"nextToken,omitempty"`
	}{query.Items[tagRow]{Item: page}, next}, nil
}

func resourceType(id string) string {
	for _, k := range idKinds() {
		if k.wellFormed(id) {
			return k.resourceType
		}
	}
	return "resource"
}
