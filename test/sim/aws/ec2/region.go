package ec2

import (
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

type regionXML struct {
	OptIn    string `xml:"optInStatus"`
	Name     string `xml:"regionName"`
	Endpoint string `xml:"regionEndpoint"`
}

// optedOut are the regions that an account has only once it asked for them.
// Source: AWS account management guide, regions.
func optedOut() []string {
	return []string{
		"af-south-1", "ap-east-1", "ap-east-2", "ap-south-2", "ap-southeast-3", "ap-southeast-4", "ap-southeast-5", "ap-southeast-6", "ap-southeast-7",
		"ca-west-1", "eu-central-2", "eu-south-1", "eu-south-2", "il-central-1", "me-central-1", "me-south-1", "mx-central-1",
	}
}

func (c *call) optIn(region string) string {
	switch {
	case !slices.Contains(optedOut(), region):
		return "opt-in-not-required"
	case region == c.opt.Region:
		return "opted-in"
	}
	return "not-opted-in"
}

// regions are those that the account has; all of them when the call names some or asks for all.
func (c *call) regions() ([]string, error) {
	names := []string{
		"ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-southeast-1", "ap-southeast-2", "ca-central-1",
		"eu-central-1", "eu-north-1", "eu-west-1", "eu-west-2", "eu-west-3", "sa-east-1", "us-east-1", "us-east-2", "us-west-1", "us-west-2",
	}
	all, _, err := c.Bool("AllRegions")
	if all || c.Has("RegionName") {
		names = append(names, optedOut()...)
	}
	if !slices.Contains(names, c.opt.Region) {
		names = append(names, c.opt.Region)
	}
	slices.Sort(names)
	return names, err
}

func describeRegions(c *call) (any, error) {
	names, err := c.regions()
	if err != nil {
		return nil, err
	}
	if wanted := c.Strs("RegionName"); len(wanted) > 0 {
		for _, w := range wanted {
			if !slices.Contains(names, w) {
				return nil, query.Errorf("InvalidParameterValue", "Invalid region names: [%s]", w)
			}
		}
		names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(wanted, n) })
	}
	var regions []regionXML
	for _, n := range names {
		regions = append(regions, regionXML{c.optIn(n), n, "ec2." + n + ".amazonaws.com"})
	}
	regions, err = selectBy(c, properties[regionXML]{
		"endpoint":      func(_ *call, r regionXML) []string { return one(r.Endpoint) },
		"opt-in-status": func(_ *call, r regionXML) []string { return one(r.OptIn) },
		"region-name":   func(_ *call, r regionXML) []string { return one(r.Name) },
	}, func(r regionXML) string { return r.Name }, regions)
	return struct {
		Regions query.Items[regionXML] `xml:"regionInfo"`
	}{query.Items[regionXML]{Item: regions}}, err
}

type attributeXML struct {
	Name   string   `xml:"attributeName"`
	Values []string `xml:"attributeValueSet>item>attributeValue"`
}

// describeAccountAttributes answers the questions of older clients whether the
// account has EC2-Classic and which VPC is the default.
func describeAccountAttributes(c *call) (any, error) {
	vpc, ok := c.st.defaultVPC()
	if !ok {
		vpc.ID = "none"
	}
	all := []attributeXML{
		{"vpc-max-security-groups-per-interface", []string{strconv.Itoa(c.opt.Limits.GroupsPerInterface)}},
		{"max-instances", []string{"20"}},
		{"supported-platforms", []string{"VPC"}},
		{"default-vpc", []string{vpc.ID}},
		{"max-elastic-ips", []string{"5"}},
		{"vpc-max-elastic-ips", []string{"5"}},
	}
	if wanted := c.Strs("AttributeName"); len(wanted) > 0 {
		for _, w := range wanted {
			if !slices.ContainsFunc(all, func(a attributeXML) bool { return a.Name == w }) {
				return nil, query.Errorf("InvalidParameterValue", "Invalid value '%s' for attributeName.", w)
			}
		}
		all = slices.DeleteFunc(all, func(a attributeXML) bool { return !slices.Contains(wanted, a.Name) })
	}
	return struct {
		Attributes query.Items[attributeXML] `xml:"accountAttributeSet"`
	}{query.Items[attributeXML]{Item: all}}, nil
}

// describeGroupReferences finds none: only groups of peered VPCs count.
func describeGroupReferences(c *call) (any, error) {
	ids := c.Strs("GroupId")
	if len(ids) == 0 {
		return nil, missingParameter("GroupId")
	}
	for _, id := range ids {
		if _, err := c.groupByID(id); err != nil {
			return nil, err
		}
	}
	return struct {
		References query.Items[struct{}] `xml:"securityGroupReferenceSet"`
	}{}, nil
}

// describeStaleGroups finds none: rules become stale when a peering ends.
func describeStaleGroups(c *call) (any, error) {
	_, err := required(c, c.st.vpcs, kindVPC(), "VpcId")
	return struct {
		Stale query.Items[struct{}] `xml:"staleSecurityGroupSet"`
	}{}, err
}

// describeVpcPeeringConnections answers that there are none: peering is not simulated.
func describeVpcPeeringConnections(c *call) (any, error) {
	none := idKind{"pcx", "vpc-peering-connection", "vpcPeeringConnection ID", "InvalidVpcPeeringConnectionId.Malformed", "InvalidVpcPeeringConnectionID.NotFound"}
	_, _, err := describe(c, listing[struct{}]{
		kind: none, param: "VpcPeeringConnectionId", id: func(struct{}) string { return "" },
		props: properties[struct{}]{}.unused("accepter-vpc-info.cidr-block", "accepter-vpc-info.owner-id", "accepter-vpc-info.vpc-id", "expiration-time",
			"requester-vpc-info.cidr-block", "requester-vpc-info.owner-id", "requester-vpc-info.vpc-id", "status-code", "status-message", "vpc-peering-connection-id"),
	})
	return struct {
		Connections query.Items[struct{}] `xml:"vpcPeeringConnectionSet"`
	}{}, err
}
