package ec2

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// AmazonList gives the id of Amazon's own prefix list for a service: s3 or dynamodb.
func AmazonList(service string) string { return ID("pl", "amazon-"+service) }

// amazonLists holds blocks that are set aside for benchmarks (RFC 2544).
func amazonLists(region string) []PrefixList {
	list := func(service string, cidrs ...string) PrefixList {
		l := PrefixList{ID: AmazonList(service), Name: "com.amazonaws." + region + "." + service, Family: "IPv4", Owner: "AWS", MaxEntries: len(cidrs), Version: 1}
		for _, cidr := range cidrs {
			l.Entries = append(l.Entries, PrefixEntry{CIDR: cidr})
		}
		return l
	}
	return []PrefixList{list("dynamodb", "198.19.32.0/20"), list("s3", "198.19.0.0/20", "198.19.16.0/20")}
}

type listXML struct {
	ID      string  `xml:"prefixListId"`
	ARN     string  `xml:"prefixListArn"`
	Name    string  `xml:"prefixListName"`
	Family  string  `xml:"addressFamily"`
	State   string  `xml:"state"`
	Max     int     `xml:"maxEntries,omitempty"`
	Version int     `xml:"version,omitempty"`
	Owner   string  `xml:"ownerId"`
	Tags    *tagSet `xml:"tagSet"`
}

func (c *call) listXML(l PrefixList) listXML {
	x := listXML{
		ID: l.ID, ARN: c.arn("prefix-list", l.ID), Name: l.Name, Family: l.Family, State: "create-complete",
		Max: l.MaxEntries, Version: l.Version, Owner: l.Owner, Tags: c.tagsXML(l.ID),
	}
	if l.Owner == "AWS" {
		x.ARN = "arn:aws:ec2:" + c.opt.Region + ":aws:prefix-list/" + l.ID
	}
	return x
}

func listProperties() properties[PrefixList] {
	return properties[PrefixList]{
		"owner-id":         func(_ *call, l PrefixList) []string { return one(l.Owner) },
		"prefix-list-id":   func(_ *call, l PrefixList) []string { return one(l.ID) },
		"prefix-list-name": func(_ *call, l PrefixList) []string { return one(l.Name) },
	}
}

func describeManagedPrefixLists(c *call) (any, error) {
	page, next, err := describe(c, listing[PrefixList]{
		kind: kindList(), param: "PrefixListId", id: func(l PrefixList) string { return l.ID },
		props: listProperties(), objects: sorted(c.st.lists), most: 100,
	})
	if err != nil {
		return nil, err
	}
	out := struct {
		Lists query.Items[listXML] `xml:"prefixListSet"`
		Next  string               `xml:"nextToken,omitempty"`
	}{Next: next}
	for _, l := range page {
		out.Lists.Item = append(out.Lists.Item, c.listXML(l))
	}
	return out, nil
}

type awsListXML struct {
	ID    string   `xml:"prefixListId"`
	Name  string   `xml:"prefixListName"`
	CIDRs []string `xml:"cidrSet>item"`
}

// describePrefixLists shows Amazon's own lists only.
func describePrefixLists(c *call) (any, error) {
	objects := slices.DeleteFunc(sorted(c.st.lists), func(l PrefixList) bool { return l.Owner != "AWS" })
	page, next, err := describe(c, listing[PrefixList]{
		kind: kindList(), param: "PrefixListId", id: func(l PrefixList) string { return l.ID },
		props: listProperties(), objects: objects,
	})
	if err != nil {
		return nil, err
	}
	out := struct {
		Lists query.Items[awsListXML] `xml:"prefixListSet"`
		Next  string                  `xml:"nextToken,omitempty"`
	}{Next: next}
	for _, l := range page {
		x := awsListXML{ID: l.ID, Name: l.Name}
		for _, e := range l.Entries {
			x.CIDRs = append(x.CIDRs, e.CIDR)
		}
		out.Lists.Item = append(out.Lists.Item, x)
	}
	return out, nil
}

func createManagedPrefixList(c *call) (any, error) {
	l := PrefixList{Owner: c.opt.Account, Version: 1, Family: c.Str("AddressFamily")}
	var err error
	if l.Name, err = need(c, "PrefixListName"); err != nil {
		return nil, err
	}
	if l.Family != "IPv4" && l.Family != "IPv6" {
		return nil, query.Errorf("InvalidParameterValue", "Value (%s) for parameter AddressFamily is invalid. Expected IPv4 or IPv6.", l.Family)
	}
	var ok bool
	if l.MaxEntries, ok, err = c.Int("MaxEntries"); err != nil {
		return nil, err
	} else if !ok || l.MaxEntries < 1 {
		return nil, missingParameter("MaxEntries")
	}
	if l.Entries, err = c.entries(l, "Entry"); err != nil {
		return nil, err
	}
	if err := l.fits(); err != nil {
		return nil, err
	}
	specs, err := tagSpecs(c, "prefix-list")
	if err != nil {
		return nil, err
	}
	l.ID = c.st.newID("pl")
	c.st.lists[l.ID] = l
	c.setTags(l.ID, specs["prefix-list"])
	return struct {
		List listXML `xml:"prefixList"`
	}{c.listXML(l)}, nil
}

func deleteManagedPrefixList(c *call) (any, error) {
	l, err := required(c, c.st.lists, kindList(), "PrefixListId")
	if err != nil {
		return nil, err
	}
	if l.Owner == "AWS" {
		return nil, query.Errorf("UnauthorizedOperation", "You are not authorized to perform this operation.")
	}
	x := c.listXML(l)
	x.State = "delete-in-progress"
	uses := func(r Rule) bool { return r.PrefixList == l.ID }
	for _, g := range c.st.groups {
		if slices.ContainsFunc(g.Ingress, uses) || slices.ContainsFunc(g.Egress, uses) {
			// The call is accepted all the same, and the list stays.
			return struct {
				List listXML `xml:"prefixList"`
			}{x}, nil
		}
	}
	delete(c.st.lists, l.ID)
	c.st.drop(l.ID)
	return struct {
		List listXML `xml:"prefixList"`
	}{x}, nil
}
