package ec2

import (
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// side is which half of a group a call is about.
type side bool

const (
	ingress side = false
	egress  side = true
)

func (s side) rules(g Group) []Rule {
	if s == egress {
		return g.Egress
	}
	return g.Ingress
}

// with gives the group with other rules on this side.
func (s side) with(g Group, rules []Rule) Group {
	if s == egress {
		g.Egress = rules
	} else {
		g.Ingress = rules
	}
	return g
}

// authorize adds all rules of the call or none.
func authorize(s side) func(*call) (any, error) {
	return func(c *call) (any, error) {
		g, err := targetGroup(c)
		if err != nil {
			return nil, err
		}
		wanted, err := readRules(c, g)
		if err != nil {
			return nil, err
		}
		if len(wanted) == 0 {
			return nil, missingParameter("IpPermissions")
		}
		specs, err := tagSpecs(c, "security-group-rule")
		if err != nil {
			return nil, err
		}
		have := s.rules(g)
		for _, r := range wanted {
			if slices.ContainsFunc(have, r.same) {
				return nil, query.Errorf("InvalidPermission.Duplicate", "the specified rule %q already exists", r.words())
			}
		}
		all := append(slices.Clone(have), wanted...)
		if c.tooManyRules(all) {
			return nil, query.Errorf("RulesPerSecurityGroupLimitExceeded", "The maximum number of rules per security group has been reached.")
		}
		added := all[len(have):]
		for i := range added {
			added[i].ID = c.st.newID("sgr")
			c.setTags(added[i].ID, specs["security-group-rule"])
		}
		c.st.groups[g.ID] = s.with(g, all)
		return struct {
			Return bool                 `xml:"return"`
			Rules  query.Items[ruleXML] `xml:"securityGroupRuleSet"`
		}{true, c.rulesXML(g.ID, s, added)}, nil
	}
}

// words is how EC2 spells a rule in its complaint about a duplicate.
func (r Rule) words() string {
	protocol := map[string]string{"tcp": "TCP", "udp": "UDP", "icmp": "ICMP", "icmpv6": "ICMPv6", "-1": "ALL"}[r.Protocol]
	if protocol == "" {
		protocol = r.Protocol
	}
	out := "peer: " + r.CIDR + r.IPv6CIDR + r.PrefixList + r.Group + ", " + protocol
	if r.HasPorts && (r.Protocol == "tcp" || r.Protocol == "udp") {
		out += ", from port: " + strconv.Itoa(r.From) + ", to port: " + strconv.Itoa(r.To)
	} else if r.HasPorts {
		out += ", type: " + strconv.Itoa(r.From) + ", code: " + strconv.Itoa(r.To)
	}
	return out + ", ALLOW"
}

// tooManyRules counts IPv4 and IPv6 apart. A group reference counts for both, a
// prefix list for as many entries as it may have.
// Source: Amazon VPC user guide, quotas, security groups.
func (c *call) tooManyRules(rules []Rule) bool {
	v4, v6 := 0, 0
	for _, r := range rules {
		switch {
		case r.CIDR != "":
			v4++
		case r.IPv6CIDR != "":
			v6++
		case r.PrefixList != "":
			weight := max(1, c.st.lists[r.PrefixList].MaxEntries)
			if c.st.lists[r.PrefixList].Family == "IPv6" {
				v6 += weight
			} else {
				v4 += weight
			}
		default:
			v4++
			v6++
		}
	}
	limit := c.opt.Limits.RulesPerGroup
	return limit >= 0 && (v4 > limit || v6 > limit)
}

// revoke removes all rules of the call or none. The API reference says that in
// the default VPC unknown rules are reported and not refused; this simulator
// refuses them in every VPC, because a caller that depends on the difference is
// better found out.
func revoke(s side) func(*call) (any, error) {
	return func(c *call) (any, error) {
		g, err := targetGroup(c)
		if err != nil {
			return nil, err
		}
		going, err := rulesToRevoke(c, g, s)
		if err != nil {
			return nil, err
		}
		gone := map[string]bool{}
		for _, r := range going {
			gone[r.ID] = true
			c.st.drop(r.ID)
		}
		kept := slices.DeleteFunc(slices.Clone(s.rules(g)), func(r Rule) bool { return gone[r.ID] })
		c.st.groups[g.ID] = s.with(g, kept)
		out := struct {
			Return  bool                    `xml:"return"`
			Unknown query.Items[struct{}]   `xml:"unknownIpPermissionSet"`
			Revoked query.Items[revokedXML] `xml:"revokedSecurityGroupRuleSet"`
		}{Return: true}
		for _, r := range going {
			x := c.ruleXML(g.ID, s, r)
			out.Revoked.Item = append(out.Revoked.Item, revokedXML{
				ID: x.ID, Group: x.Group, Egress: x.Egress, Protocol: x.Protocol, From: x.From, To: x.To,
				CIDR: x.CIDR, IPv6CIDR: x.IPv6CIDR, PrefixList: x.PrefixList, Referenced: r.Group, Description: x.Description,
			})
		}
		return out, nil
	}
}

func rulesToRevoke(c *call, g Group, s side) ([]Rule, error) {
	if ids := c.Strs("SecurityGroupRuleId"); len(ids) > 0 {
		return rulesByID(g, s, ids)
	}
	wanted, err := readRules(c, g)
	if err != nil {
		return nil, err
	}
	if len(wanted) == 0 {
		return nil, query.Errorf("MissingParameter", "Either 'ipPermissions' or 'securityGroupRuleIds' should be provided.")
	}
	return rulesLike(g, s, wanted)
}

// rulesLike finds the group's own rules that equal the wanted ones.
func rulesLike(g Group, s side, wanted []Rule) ([]Rule, error) {
	have := s.rules(g)
	var out []Rule
	for _, w := range wanted {
		at := slices.IndexFunc(have, w.same)
		if at < 0 {
			return nil, query.Errorf("InvalidPermission.NotFound", "The specified rule does not exist in this security group.")
		}
		out = append(out, have[at])
	}
	return out, nil
}

func rulesByID(g Group, s side, ids []string) ([]Rule, error) {
	have := s.rules(g)
	var out []Rule
	for _, id := range ids {
		if err := kindRule().check(id); err != nil {
			return nil, err
		}
		at := slices.IndexFunc(have, func(r Rule) bool { return r.ID == id })
		if at < 0 {
			return nil, kindRule().missing(id)
		}
		out = append(out, have[at])
	}
	return out, nil
}

// updateDescriptions changes the descriptions of existing rules.
func updateDescriptions(s side) func(*call) (any, error) {
	return func(c *call) (any, error) {
		g, err := targetGroup(c)
		if err != nil {
			return nil, err
		}
		text, err := newDescriptions(c, g, s)
		if err != nil {
			return nil, err
		}
		rules := slices.Clone(s.rules(g))
		for i, r := range rules {
			if d, ok := text[r.ID]; ok {
				rules[i].Description = d
			}
		}
		c.st.groups[g.ID] = s.with(g, rules)
		return nil, nil
	}
}

func newDescriptions(c *call, g Group, s side) (map[string]string, error) {
	out := map[string]string{}
	byID := c.List("SecurityGroupRuleDescription")
	for _, d := range byID {
		found, err := rulesByID(g, s, []string{d.Str("SecurityGroupRuleId")})
		if err != nil {
			return nil, err
		}
		if err := checkDescription(d.Str("Description"), "rule"); err != nil {
			return nil, err
		}
		out[found[0].ID] = d.Str("Description")
	}
	wanted, err := readRules(c, g)
	if err != nil {
		return nil, err
	}
	if len(wanted) == 0 && len(byID) == 0 {
		return nil, query.Errorf("MissingParameter", "Either 'ipPermissions' or 'securityGroupRuleDescriptions' should be provided.")
	}
	found, err := rulesLike(g, s, wanted)
	for i, r := range found {
		out[r.ID] = wanted[i].Description
	}
	return out, err
}

// modifySecurityGroupRules replaces rules in place; their ids stay.
func modifySecurityGroupRules(c *call) (any, error) {
	g, err := targetGroup(c)
	if err != nil {
		return nil, err
	}
	updates := c.List("SecurityGroupRule")
	if len(updates) == 0 {
		return nil, missingParameter("SecurityGroupRule")
	}
	for _, u := range updates {
		s, at, err := ruleAt(g, u.Str("SecurityGroupRuleId"))
		if err != nil {
			return nil, err
		}
		r, err := ruleRequest(c, g, u.Sub("SecurityGroupRule"))
		if err != nil {
			return nil, err
		}
		rules := slices.Clone(s.rules(g))
		r.ID = rules[at].ID
		for i, other := range rules {
			if i != at && r.same(other) {
				return nil, query.Errorf("InvalidPermission.Duplicate", "the specified rule %q already exists", r.words())
			}
		}
		rules[at] = r
		g = s.with(g, rules)
	}
	c.st.groups[g.ID] = g
	return nil, nil
}

func ruleAt(g Group, id string) (side, int, error) {
	if err := kindRule().check(id); err != nil {
		return ingress, 0, err
	}
	for _, s := range []side{ingress, egress} {
		if at := slices.IndexFunc(s.rules(g), func(r Rule) bool { return r.ID == id }); at >= 0 {
			return s, at, nil
		}
	}
	return ingress, 0, kindRule().missing(id)
}

// ruleRequest reads the one-source form of a rule.
func ruleRequest(c *call, g Group, p query.Params) (Rule, error) {
	r, err := protocolPorts(p)
	if err != nil {
		return Rule{}, err
	}
	r.Description = p.Str("Description")
	if err := checkDescription(r.Description, "rule"); err != nil {
		return Rule{}, err
	}
	if err := oneSource(p); err != nil {
		return Rule{}, err
	}
	switch {
	case p.Has("CidrIpv4"):
		r.CIDR, err = ruleCIDR(p.Str("CidrIpv4"), false)
	case p.Has("CidrIpv6"):
		r.IPv6CIDR, err = ruleCIDR(p.Str("CidrIpv6"), true)
	case p.Has("PrefixListId"):
		var list PrefixList
		list, err = find(c.st.lists, kindList(), p.Str("PrefixListId"))
		r.PrefixList = list.ID
	default:
		var other Group
		other, err = c.groupByID(p.Str("ReferencedGroupId"))
		if err == nil && other.VPC != g.VPC {
			err = query.Errorf("InvalidGroup.NotFound", "You have specified two resources that belong to different networks.")
		}
		r.Group = other.ID
	}
	return r, err
}

func oneSource(p query.Params) error {
	n := 0
	for _, name := range []string{"CidrIpv4", "CidrIpv6", "PrefixListId", "ReferencedGroupId"} {
		if p.Has(name) {
			n++
		}
	}
	switch n {
	case 0:
		return query.Errorf("MissingParameter", "The request must contain exactly one of: cidrIp, cidrIpv6, prefixListId, or referencedGroupId")
	case 1:
		return nil
	}
	return query.Errorf("InvalidParameterCombination", "Only one of cidrIp, cidrIpv6, prefixListId, or referencedGroupId can be specified")
}
