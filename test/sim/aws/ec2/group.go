package ec2

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

const defaultGroup = "default"

// groupByID finds a visible group.
func (c *call) groupByID(id string) (Group, error) {
	g, err := findByID(c.st.groups, kindOf("sg"), id)
	if err == nil && !isVisible(g, c.Now, c.opt.NewGroupDelay) {
		return Group{}, kindOf("sg").missing(id)
	}
	return g, err
}

// targetGroup reads GroupId. Names work in the default VPC only, where no caller uses them.
func targetGroup(c *call) (Group, error) {
	id, err := requireParam(c, "GroupId")
	if err != nil {
		return Group{}, err
	}
	return c.groupByID(id)
}

func newGroup(st *state, c *call, vpc, name, description string) Group {
	everywhere := Rule{ID: st.newID("sgr"), Protocol: "-1", CIDR: "0.0.0.0/0"}
	g := Group{ID: st.newID("sg"), Name: name, Description: description, VPC: vpc, Egress: []Rule{everywhere}, Created: c.Now}
	if st.vpcs[vpc].IPv6CIDR != "" {
		// A VPC with an IPv6 block gets the default rule for both families.
		// Source: Amazon VPC user guide, default security group rules.
		g.Egress = append(g.Egress, Rule{ID: st.newID("sgr"), Protocol: "-1", IPv6CIDR: "::/0"})
	}
	return g
}

func createSecurityGroup(c *call) (any, error) {
	name, err := requireParam(c, "GroupName")
	if err != nil {
		return nil, err
	}
	description, err := requireParam(c, "GroupDescription")
	if err != nil {
		return nil, err
	}
	// Source: EC2 API reference, CreateSecurityGroup.
	if !validText(name) || strings.HasPrefix(name, "sg-") || strings.EqualFold(name, defaultGroup) {
		return nil, badValue("groupName", name, "Valid names are strings less than 256 characters from the following set: a-zA-Z0-9. _-:/()#,@[]+=&;{}!$*")
	}
	if err := checkDescription(description, "security group"); err != nil {
		return nil, err
	}
	vpc, err := requireObject(c, c.st.vpcs, kindOf("vpc"), "VpcId")
	if err != nil {
		return nil, err
	}
	specs, err := tagSpecs(c, "security-group")
	if err != nil {
		return nil, err
	}
	if _, taken := c.st.groupNamed(vpc.ID, name); taken {
		return nil, query.Errorf("InvalidGroup.Duplicate", "The security group '%s' already exists for VPC '%s'", name, vpc.ID)
	}
	if limit := c.opt.Limits.Groups; limit >= 0 && len(c.st.groups) >= limit {
		return nil, query.Errorf("SecurityGroupLimitExceeded", "The maximum number of security groups has been reached.")
	}
	g := newGroup(c.st, c, vpc.ID, name, description)
	c.st.groups[g.ID] = g
	c.setTags(g.ID, specs["security-group"])
	return struct {
		Return bool     `xml:"return"`
		ID     string   `xml:"groupId"`
		Tags   []tagXML `xml:"tagSet,omitempty"`
		ARN    string   `xml:"securityGroupArn"`
	}{true, g.ID, c.tagsXML(g.ID), c.arn("security-group", g.ID)}, nil
}

func (c *call) arn(kind, id string) string {
	return "arn:aws:ec2:" + c.opt.Region + ":" + c.opt.Account + ":" + kind + "/" + id
}

// groupUsers asks the load balancers about the group that the call names.
func groupUsers(c *call) []string {
	g, err := targetGroup(c)
	if err != nil {
		return nil
	}
	return c.opt.Users.GroupUsers(g.ID)
}

func deleteSecurityGroup(c *call) (any, error) {
	g, err := targetGroup(c)
	if err != nil {
		return nil, err
	}
	if g.Name == defaultGroup {
		return nil, query.Errorf("CannotDelete", "the specified group: \"%s\" name: \"%s\" cannot be deleted by a user", g.ID, g.Name)
	}
	if len(c.users) > 0 || c.groupInUse(g.ID) {
		return nil, query.Errorf("DependencyViolation", "resource %s has a dependent object", g.ID)
	}
	c.dropGroup(g)
	return struct {
		Return bool   `xml:"return"`
		ID     string `xml:"groupId"`
	}{true, g.ID}, nil
}

func (c *call) dropGroup(g Group) {
	for _, r := range c.st.groupRules(g) {
		c.st.drop(r.ID)
	}
	delete(c.st.groups, g.ID)
	c.st.drop(g.ID)
}

// groupInUse looks at interfaces and at the rules of other groups; a group that
// refers to itself holds nothing back.
func (c *call) groupInUse(id string) bool {
	for _, i := range c.st.interfaces {
		if slices.Contains(i.Groups, id) {
			return true
		}
	}
	for _, g := range c.st.groups {
		refers := func(r Rule) bool { return r.Group == id }
		if g.ID != id && (slices.ContainsFunc(g.Ingress, refers) || slices.ContainsFunc(g.Egress, refers)) {
			return true
		}
	}
	return false
}

type groupXML struct {
	ID          string          `xml:"groupId"`
	Name        string          `xml:"groupName"`
	Description string          `xml:"groupDescription"`
	VPC         string          `xml:"vpcId"`
	Owner       string          `xml:"ownerId"`
	ARN         string          `xml:"securityGroupArn"`
	Ingress     []permissionXML `xml:"ipPermissions"`
	Egress      []permissionXML `xml:"ipPermissionsEgress"`
	Tags        []tagXML        `xml:"tagSet,omitempty"`
}

func describeSecurityGroups(c *call) (any, error) {
	return describeAs(c, listing[Group]{
		kind: kindOf("sg"), param: "GroupId", id: groupID, props: groupProperties(),
		objects: slices.DeleteFunc(sortedByID(c.st.groups), func(g Group) bool { return !isVisible(g, c.Now, c.opt.NewGroupDelay) }),
	}, "securityGroupInfo", func(g Group) groupXML {
		return groupXML{
			ID: g.ID, Name: g.Name, Description: g.Description, VPC: g.VPC, Owner: c.opt.Account,
			ARN: c.arn("security-group", g.ID), Ingress: c.permissionsXML(g.Ingress), Egress: c.permissionsXML(g.Egress),
			Tags: c.tagsXML(g.ID),
		}
	})
}

func groupID(g Group) string { return g.ID }

func groupProperties() properties[Group] {
	p := properties[Group]{
		"description": func(_ *call, g Group) []string { return singleValue(g.Description) },
		"group-id":    func(_ *call, g Group) []string { return singleValue(g.ID) },
		"group-name":  func(_ *call, g Group) []string { return singleValue(g.Name) },
		"owner-id":    func(c *call, _ Group) []string { return singleValue(c.opt.Account) },
		"vpc-id":      func(_ *call, g Group) []string { return singleValue(g.VPC) },
	}
	for name, of := range ruleProperties() {
		p["ip-permission."+name] = func(c *call, g Group) []string { return collectProperties(c, g.Ingress, of) }
	}
	return p
}

func collectProperties(c *call, rules []Rule, of property[Rule]) []string {
	var out []string
	for _, r := range rules {
		out = append(out, of(c, r)...)
	}
	return out
}
