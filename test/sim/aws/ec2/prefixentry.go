package ec2

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// entries reads a list of CIDR blocks of a prefix list's family.
func (c *call) entries(l PrefixList, name string) ([]PrefixEntry, error) {
	var out []PrefixEntry
	for _, e := range c.List(name) {
		p, ok := canonical(e.Str("Cidr"), l.Family == "IPv6")
		if !ok {
			return nil, badValue("Cidr", e.Str("Cidr"), "This is not a valid CIDR block.")
		}
		out = append(out, PrefixEntry{p.String(), e.Str("Description")})
	}
	return out, nil
}

func (l PrefixList) fits() error {
	if len(l.Entries) > l.MaxEntries {
		return query.Errorf("PrefixListMaxEntriesExceeded", "The maximum number of entries of the prefix list is %d.", l.MaxEntries)
	}
	return nil
}

// modifyManagedPrefixList removes, then adds entries. A change of entries makes a
// new version, and must name the present one.
func modifyManagedPrefixList(c *call) (any, error) {
	l, err := required(c, c.st.lists, kindList(), "PrefixListId")
	if err != nil {
		return nil, err
	}
	if l.Owner == "AWS" {
		return nil, query.Errorf("UnauthorizedOperation", "You are not authorized to perform this operation.")
	}
	version, told, err := c.Int("CurrentVersion")
	if err != nil {
		return nil, err
	}
	if told && version != l.Version {
		return nil, query.Errorf("PrefixListVersionMismatch", "The prefix list has the incorrect version number")
	}
	if n, ok, err := c.Int("MaxEntries"); err != nil {
		return nil, err
	} else if ok {
		l.MaxEntries = n
	}
	if name := c.Str("PrefixListName"); name != "" {
		l.Name = name
	}
	if err := c.editEntries(&l); err != nil {
		return nil, err
	}
	c.st.lists[l.ID] = l
	x := c.listXML(l)
	x.State = "modify-in-progress"
	return struct {
		List listXML `xml:"prefixList"`
	}{x}, nil
}

func (c *call) editEntries(l *PrefixList) error {
	gone, err := c.entries(*l, "RemoveEntry")
	if err != nil {
		return err
	}
	added, err := c.entries(*l, "AddEntry")
	if err != nil {
		return err
	}
	has := func(list []PrefixEntry, cidr string) bool {
		return slices.ContainsFunc(list, func(e PrefixEntry) bool { return e.CIDR == cidr })
	}
	for _, e := range gone {
		if !has(l.Entries, e.CIDR) {
			return badValue("RemoveEntries", e.CIDR, "The prefix list has no such entry.")
		}
	}
	all := slices.DeleteFunc(slices.Clone(l.Entries), func(e PrefixEntry) bool { return has(gone, e.CIDR) || has(added, e.CIDR) })
	l.Entries = slices.Concat(all, added)
	if len(gone)+len(added) > 0 {
		l.Version++
	}
	return l.fits()
}

type entryXML struct {
	CIDR        string `xml:"cidr"`
	Description string `xml:"description,omitempty"`
}

// maxEntriesPage is the largest page of entries; source: service model.
const maxEntriesPage = 100

func getManagedPrefixListEntries(c *call) (any, error) {
	l, err := required(c, c.st.lists, kindList(), "PrefixListId")
	if err != nil {
		return nil, err
	}
	size, err := paging(c, maxEntriesPage)
	if err != nil {
		return nil, err
	}
	entries := slices.SortedFunc(slices.Values(l.Entries), func(a, b PrefixEntry) int { return strings.Compare(a.CIDR, b.CIDR) })
	page, next, ok := query.Page(entries, func(e PrefixEntry) string { return e.CIDR }, c.Str("NextToken"), size)
	if !ok {
		return nil, query.Errorf("InvalidNextToken", "The token '%s' is invalid", c.Str("NextToken"))
	}
	out := struct {
		Entries query.Items[entryXML] `xml:"entrySet"`
		Next    string                `xml:"nextToken,omitempty"`
	}{Next: next}
	for _, e := range page {
		out.Entries.Item = append(out.Entries.Item, entryXML(e))
	}
	return out, nil
}
