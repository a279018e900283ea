package ec2

import (
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// authorizeIngress adds all rules of the call or none.
func authorizeIngress(c *call) (any, error) {
	g, wanted, err := permissionsOf(c)
	if err != nil {
		return nil, err
	}
	specs, err := tagSpecs(c, "security-group-rule")
	if err != nil {
		return nil, err
	}
	for _, r := range wanted {
		if slices.ContainsFunc(g.Ingress, r.same) {
			return nil, query.Errorf("InvalidPermission.Duplicate", "the specified rule %q already exists", r.words())
		}
	}
	all := append(slices.Clone(g.Ingress), wanted...)
	if c.tooManyRules(all) {
		return nil, query.Errorf("RulesPerSecurityGroupLimitExceeded", "The maximum number of rules per security group has been reached.")
	}
	added := all[len(g.Ingress):]
	out := struct {
		Return bool      `xml:"return"`
		Rules  []ruleXML `xml:"securityGroupRuleSet"`
	}{Return: true}
	for i := range added {
		added[i].ID = c.st.newID("sgr")
		c.setTags(added[i].ID, specs["security-group-rule"])
		out.Rules = append(out.Rules, c.ruleXML(groupRule{Rule: added[i], group: g.ID}))
	}
	g.Ingress = all
	c.st.groups[g.ID] = g
	return out, nil
}

// permissionsOf gives the group that a call names, and its rules.
func permissionsOf(c *call) (Group, []Rule, error) {
	g, err := targetGroup(c)
	if err != nil {
		return g, nil, err
	}
	rules, err := readRules(c, g)
	if err == nil && len(rules) == 0 {
		err = missingParameter("IpPermissions")
	}
	return g, rules, err
}

// revokeIngress removes all rules of the call or none. The API reference says that in
// the default VPC unknown rules are reported and not refused; this simulator
// refuses them in every VPC, because a caller that depends on the difference is
// better found out.
func revokeIngress(c *call) (any, error) {
	g, wanted, err := permissionsOf(c)
	if err != nil {
		return nil, err
	}
	out := struct {
		Return  bool       `xml:"return"`
		Unknown []struct{} `xml:"unknownIpPermissionSet"`
		Revoked []ruleXML  `xml:"revokedSecurityGroupRuleSet"`
	}{Return: true}
	kept := slices.Clone(g.Ingress)
	for _, w := range wanted {
		at := slices.IndexFunc(kept, w.same)
		if at < 0 {
			return nil, query.Errorf("InvalidPermission.NotFound", "The specified rule does not exist in this security group.")
		}
		x := c.ruleXML(groupRule{Rule: kept[at], group: g.ID})
		x.ARN, x.Owner, x.Tags, x.Referenced, x.ReferencedID = "", "", nil, nil, kept[at].Group
		out.Revoked = append(out.Revoked, x)
		kept = slices.Delete(kept, at, at+1)
	}
	for _, r := range out.Revoked {
		c.st.drop(r.ID)
	}
	g.Ingress = kept
	c.st.groups[g.ID] = g
	return out, nil
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
			v4 += c.st.lists[r.PrefixList].MaxEntries
		default:
			v4++
			v6++
		}
	}
	limit := c.opt.Limits.RulesPerGroup
	return limit >= 0 && (v4 > limit || v6 > limit)
}
