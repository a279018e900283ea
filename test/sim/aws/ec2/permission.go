package ec2

import (
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// readRules reads the rules of an Authorize or Revoke call. One permission with
// several sources is as many rules.
func readRules(c *call, target Group) ([]Rule, error) {
	var out []Rule
	for _, p := range c.List("IpPermissions") {
		rules, err := parsePermission(c, target, p)
		if err != nil {
			return nil, err
		}
		out = append(out, rules...)
	}
	for i, r := range out {
		if slices.ContainsFunc(out[:i], r.same) {
			return nil, query.Errorf("InvalidParameterValue", "The same permission must not appear multiple times")
		}
	}
	return out, nil
}

func parsePermission(c *call, target Group, p query.Params) ([]Rule, error) {
	base, err := protocolPorts(p)
	if err != nil {
		return nil, err
	}
	var out []Rule
	for _, s := range p.List("Groups") {
		r := base
		if r.Group, err = sourceGroup(c, target, s); err != nil {
			return nil, err
		}
		r.Description = s.Str("Description")
		out = append(out, r)
	}
	for _, s := range p.List("IpRanges") {
		r := base
		if r.CIDR, err = ruleCIDR(s.Str("CidrIp"), false); err != nil {
			return nil, err
		}
		r.Description = s.Str("Description")
		out = append(out, r)
	}
	for _, s := range p.List("Ipv6Ranges") {
		r := base
		if r.IPv6CIDR, err = ruleCIDR(s.Str("CidrIpv6"), true); err != nil {
			return nil, err
		}
		r.Description = s.Str("Description")
		out = append(out, r)
	}
	for _, s := range p.List("PrefixListIds") {
		list, err := findByID(c.st.lists, kindOf("pl"), s.Str("PrefixListId"))
		if err != nil {
			return nil, err
		}
		r := base
		r.PrefixList, r.Description = list.ID, s.Str("Description")
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, missingParameter("ipRanges, ipv6Ranges, prefixListIds or groups")
	}
	for _, r := range out {
		if err := checkDescription(r.Description, "rule"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sourceGroup resolves the group that a rule refers to; it must be in the VPC
// of the group that gets the rule.
func sourceGroup(c *call, target Group, s query.Params) (string, error) {
	id, user := s.Str("GroupId"), s.Str("UserId")
	if id == "" {
		return "", query.Errorf("MissingParameter", "Source group ID missing.")
	}
	g, err := c.groupByID(id)
	if err != nil {
		return "", err
	}
	if user != "" && user != c.opt.Account {
		return "", kindOf("sg").missing(g.ID)
	}
	if g.VPC != target.VPC {
		return "", query.Errorf("InvalidGroup.NotFound", "You have specified two resources that belong to different networks.")
	}
	return g.ID, nil
}

const maxPort = 65535

func protocolName(text string) (string, bool) {
	name := strings.ToLower(text)
	byNumber := map[string]string{"1": "icmp", "6": "tcp", "17": "udp", "58": "icmpv6", "-1": "-1"}
	if known, ok := byNumber[name]; ok {
		return known, true
	}
	if slices.Contains([]string{"tcp", "udp", "icmp", "icmpv6"}, name) {
		return name, true
	}
	n, err := strconv.Atoi(name)
	return strconv.Itoa(n), err == nil && n >= 0 && n <= 255
}

// protocolPorts reads IpProtocol, FromPort and ToPort. Ports sent with any
// protocol but TCP, UDP and ICMP are ignored.
func protocolPorts(p query.Params) (Rule, error) {
	text := p.Str("IpProtocol")
	if text == "" {
		return Rule{}, query.Errorf("InvalidParameterValue", "Invalid value 'null' for protocol. VPC security group rules must specify protocols explicitly.")
	}
	name, ok := protocolName(text)
	if !ok {
		return Rule{}, query.Errorf("InvalidParameterValue", "Invalid value '%s' for IP protocol. Unknown protocol.", text)
	}
	from, hasFrom, err := p.Int("FromPort")
	if err != nil {
		return Rule{}, err
	}
	to, hasTo, err := p.Int("ToPort")
	if err != nil {
		return Rule{}, err
	}
	switch name {
	case "tcp", "udp":
		return Rule{Protocol: name, HasPorts: true, From: from, To: to}, checkPorts(name, from, to, hasFrom && hasTo)
	case "icmpv6":
		if !hasFrom && !hasTo {
			from, to, hasFrom, hasTo = -1, -1, true, true
		}
		fallthrough
	case "icmp":
		return Rule{Protocol: name, HasPorts: true, From: from, To: to}, checkICMP(from, to, hasFrom && hasTo)
	}
	return Rule{Protocol: name}, nil
}

func checkPorts(name string, from, to int, both bool) error {
	switch {
	case !both:
		return query.Errorf("InvalidParameterValue", "Invalid value for portRange. Must specify both from and to ports with TCP/UDP.")
	case from < 0 || from > maxPort:
		return query.Errorf("InvalidParameterValue", "Invalid value '%d' for fromPort. Must be between 0 and %d", from, maxPort)
	case to < 0 || to > maxPort:
		return query.Errorf("InvalidParameterValue", "Invalid value '%d' for toPort. Must be between 0 and %d", to, maxPort)
	case from > to:
		return query.Errorf("InvalidParameterValue", "Invalid %s port range (%d:%d)", strings.ToUpper(name), from, to)
	}
	return nil
}

func checkICMP(kind, code int, both bool) error {
	switch {
	case !both:
		return query.Errorf("InvalidParameterValue", "Invalid value for portRange. Must specify both type and code with ICMP.")
	case kind < -1 || kind > 255 || code < -1 || code > 255:
		return query.Errorf("InvalidParameterValue", "ICMP type (%d) and code (%d) must be between -1 and 255", kind, code)
	case kind == -1 && code != -1:
		return query.Errorf("InvalidParameterValue", "ICMP code (%d) must be -1 when the type is -1", code)
	}
	return nil
}

// checkDescription keeps to the characters of descriptions and VPC group names.
// Source: EC2 API reference, CreateSecurityGroup and IpRange.
func checkDescription(text, what string) error {
	if validText(text) {
		return nil
	}
	return query.Errorf("InvalidParameterValue", "Invalid %s description. Valid descriptions are strings less than 256 characters from the following set: a-zA-Z0-9. _-:/()#,@[]+=&;{}!$*", what)
}

func validText(text string) bool {
	if len(text) > 255 {
		return false
	}
	for _, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune(" ._-:/()#,@[]+=&;{}!$*", r) {
			return false
		}
	}
	return true
}
