package ec2

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

func commaList(list []string) string { return strings.Join(list, ", ") }

func (c *call) zoneID(name string) string {
	for _, z := range c.opt.Zones {
		if z.Name == name {
			return z.ID
		}
	}
	return ""
}

type zoneXML struct {
	OptIn    string                `xml:"optInStatus"`
	Messages query.Items[struct{}] `xml:"messageSet"`
	Region   string                `xml:"regionName"`
	Name     string                `xml:"zoneName"`
	ID       string                `xml:"zoneId"`
	Group    string                `xml:"groupName"`
	Border   string                `xml:"networkBorderGroup"`
	Type     string                `xml:"zoneType"`
	State    string                `xml:"zoneState"`
}

func describeAvailabilityZones(c *call) (any, error) {
	objects := slices.Clone(c.opt.Zones)
	for _, by := range []struct {
		param string
		of    func(Zone) string
	}{{"ZoneName", zoneName}, {"ZoneId", func(z Zone) string { return z.ID }}} {
		wanted := c.Strs(by.param)
		if len(wanted) == 0 {
			continue
		}
		for _, w := range wanted {
			if !slices.ContainsFunc(c.opt.Zones, func(z Zone) bool { return by.of(z) == w }) {
				return nil, query.Errorf("InvalidParameterValue", "Invalid availability zone: [%s]", w)
			}
		}
		objects = slices.DeleteFunc(objects, func(z Zone) bool { return !slices.Contains(wanted, by.of(z)) })
	}
	objects, err := selectBy(c, properties[Zone]{
		"group-name":    func(c *call, _ Zone) []string { return one(c.opt.Region) },
		"opt-in-status": func(*call, Zone) []string { return one("opt-in-not-required") },
		"region-name":   func(c *call, _ Zone) []string { return one(c.opt.Region) },
		"state":         func(*call, Zone) []string { return one("available") },
		"zone-id":       func(_ *call, z Zone) []string { return one(z.ID) },
		"zone-name":     func(_ *call, z Zone) []string { return one(z.Name) },
		"zone-type":     func(_ *call, z Zone) []string { return one(z.Type) },
	}.unused("group-long-name", "message", "parent-zone-id", "parent-zone-name"), zoneName, objects)
	if err != nil {
		return nil, err
	}
	var out struct {
		Zones query.Items[zoneXML] `xml:"availabilityZoneInfo"`
	}
	for _, z := range objects {
		out.Zones.Item = append(out.Zones.Item, zoneXML{
			OptIn: "opt-in-not-required", Region: c.opt.Region, Name: z.Name, ID: z.ID, Group: c.opt.Region,
			Border: c.opt.Region, Type: z.Type, State: "available",
		})
	}
	return out, nil
}

func zoneName(z Zone) string { return z.Name }

type regionXML struct {
	OptIn    string `xml:"optInStatus"`
	Name     string `xml:"regionName"`
	Endpoint string `xml:"regionEndpoint"`
}

func describeRegions(c *call) (any, error) {
	names := []string{
		"ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-southeast-1", "ap-southeast-2", "ca-central-1",
		"eu-central-1", "eu-north-1", "eu-west-1", "eu-west-2", "eu-west-3", "sa-east-1", "us-east-1", "us-east-2", "us-west-1", "us-west-2",
	}
	if !slices.Contains(names, c.opt.Region) {
		names = append(names, c.opt.Region)
	}
	slices.Sort(names)
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
		regions = append(regions, regionXML{"opt-in-not-required", n, "ec2." + n + ".amazonaws.com"})
	}
	regions, err := selectBy(c, properties[regionXML]{
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
		{"supported-platforms", []string{"VPC"}},
		{"default-vpc", []string{vpc.ID}},
		{"vpc-max-security-groups-per-interface", []string{"5"}},
	}
	if wanted := c.Strs("AttributeName"); len(wanted) > 0 {
		all = slices.DeleteFunc(all, func(a attributeXML) bool { return !slices.Contains(wanted, a.Name) })
	}
	return struct {
		Attributes query.Items[attributeXML] `xml:"accountAttributeSet"`
	}{query.Items[attributeXML]{Item: all}}, nil
}
