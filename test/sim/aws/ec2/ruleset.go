package ec2

import (
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// sourceXML is one source of a permission, of which each list shows its own members.
type sourceXML struct {
	User        string `xml:"userId,omitempty"`
	Group       string `xml:"groupId,omitempty"`
	CIDR        string `xml:"cidrIp,omitempty"`
	IPv6CIDR    string `xml:"cidrIpv6,omitempty"`
	PrefixList  string `xml:"prefixListId,omitempty"`
	Description string `xml:"description,omitempty"`
}

type permissionXML struct {
	Protocol string      `xml:"ipProtocol"`
	From     *int        `xml:"fromPort"`
	To       *int        `xml:"toPort"`
	Groups   []sourceXML `xml:"groups"`
	Ranges   []sourceXML `xml:"ipRanges"`
	Ranges6  []sourceXML `xml:"ipv6Ranges"`
	Prefixes []sourceXML `xml:"prefixListIds"`
}

// permissionsXML joins rules of equal protocol and ports into one permission,
// as EC2 answers; permissions stand in the order of their first rules.
func (c *call) permissionsXML(rules []Rule) []permissionXML {
	type key struct {
		protocol string
		from, to int
	}
	index := map[key]int{}
	var out []permissionXML
	for _, r := range rules {
		k := key{r.Protocol, r.From, r.To}
		at, ok := index[k]
		if !ok {
			at = len(out)
			index[k] = at
			out = append(out, permissionXML{Protocol: r.Protocol, From: r.port(r.From), To: r.port(r.To)})
		}
		p := &out[at]
		switch {
		case r.Group != "":
			p.Groups = append(p.Groups, sourceXML{User: c.opt.Account, Group: r.Group, Description: r.Description})
		case r.CIDR != "":
			p.Ranges = append(p.Ranges, sourceXML{CIDR: r.CIDR, Description: r.Description})
		case r.IPv6CIDR != "":
			p.Ranges6 = append(p.Ranges6, sourceXML{IPv6CIDR: r.IPv6CIDR, Description: r.Description})
		default:
			p.Prefixes = append(p.Prefixes, sourceXML{PrefixList: r.PrefixList, Description: r.Description})
		}
	}
	return out
}

func (r Rule) port(v int) *int {
	if !r.HasPorts {
		return nil
	}
	return &v
}

type referencedXML struct {
	Group string `xml:"groupId"`
	User  string `xml:"userId"`
}

type ruleXML struct {
	ID           string         `xml:"securityGroupRuleId"`
	ARN          string         `xml:"securityGroupRuleArn,omitempty"`
	Group        string         `xml:"groupId"`
	Owner        string         `xml:"groupOwnerId,omitempty"`
	Egress       bool           `xml:"isEgress"`
	Protocol     string         `xml:"ipProtocol"`
	From         int            `xml:"fromPort"`
	To           int            `xml:"toPort"`
	CIDR         string         `xml:"cidrIpv4,omitempty"`
	IPv6CIDR     string         `xml:"cidrIpv6,omitempty"`
	PrefixList   string         `xml:"prefixListId,omitempty"`
	Referenced   *referencedXML `xml:"referencedGroupInfo"`
	ReferencedID string         `xml:"referencedGroupId,omitempty"` // of a revoked rule, in place of the line above
	Description  string         `xml:"description,omitempty"`
	Tags         []tagXML       `xml:"tagSet,omitempty"`
}

// groupRule is a rule with the group and the way it belongs to.
type groupRule struct {
	Rule
	group  string
	egress bool
}

// ruleXML is the one-source form of a rule, in which rules without ports say -1.
func (c *call) ruleXML(r groupRule) ruleXML {
	x := ruleXML{
		ID: r.ID, ARN: c.arn("security-group-rule", r.ID), Group: r.group, Owner: c.opt.Account, Egress: r.egress,
		Protocol: r.Protocol, From: r.From, To: r.To, CIDR: r.CIDR, IPv6CIDR: r.IPv6CIDR, PrefixList: r.PrefixList,
		Description: r.Description, Tags: c.tagsXML(r.ID),
	}
	if !r.HasPorts {
		x.From, x.To = -1, -1
	}
	if r.Group != "" {
		x.Referenced = &referencedXML{r.Group, c.opt.Account}
	}
	return x
}

func (c *call) allRules() []groupRule {
	byID := map[string]groupRule{}
	for _, g := range c.st.groups {
		if !isVisible(g, c.Now, c.opt.NewGroupDelay) {
			continue
		}
		for _, r := range g.Ingress {
			byID[r.ID] = groupRule{r, g.ID, false}
		}
		for _, r := range g.Egress {
			byID[r.ID] = groupRule{r, g.ID, true}
		}
	}
	return sortedByID(byID)
}

// wellFormedGroups refuses malformed group ids in the filter of
// DescribeSecurityGroupRules; other Describe calls just find nothing.
func wellFormedGroups(c *call) error {
	for _, f := range c.List("Filter") {
		for _, id := range f.Strs("Value") {
			if f.Str("Name") == "group-id" && !strings.Contains(id, "*") && !kindOf("sg").wellFormed(id) {
				return query.Errorf(kindOf("sg").malformed, "The security group ID '%s' is malformed", id)
			}
		}
	}
	return nil
}

func describeSecurityGroupRules(c *call) (any, error) {
	if err := wellFormedGroups(c); err != nil {
		return nil, err
	}
	return describeAs(c, listing[groupRule]{
		kind: kindOf("sgr"), param: "SecurityGroupRuleId", id: func(r groupRule) string { return r.ID },
		props: properties[groupRule]{
			"group-id":               func(_ *call, r groupRule) []string { return singleValue(r.group) },
			"security-group-rule-id": func(_ *call, r groupRule) []string { return singleValue(r.ID) },
		},
		objects: c.allRules(),
	}, "securityGroupRuleSet", c.ruleXML)
}

// ruleProperties are the last parts of the filters ip-permission.*.
func ruleProperties() properties[Rule] {
	return properties[Rule]{
		"cidr":     func(_ *call, r Rule) []string { return singleValue(r.CIDR) },
		"group-id": func(_ *call, r Rule) []string { return singleValue(r.Group) },
	}
}
