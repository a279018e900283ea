package ec2

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// zoneGroup is the group that the availability zones of a region are in.
// Source: localstack/localstack:tests/aws/services/ec2/test_ec2.snapshot.json, recorded from AWS.
func (c *call) zoneGroup() string { return c.opt.Region + "-zg-1" }

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
	if _, _, err := c.Bool("AllAvailabilityZones"); err != nil {
		return nil, err
	}
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
		"group-name":    func(c *call, _ Zone) []string { return one(c.zoneGroup()) },
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
			OptIn: "opt-in-not-required", Region: c.opt.Region, Name: z.Name, ID: z.ID, Group: c.zoneGroup(),
			Border: c.opt.Region, Type: z.Type, State: "available",
		})
	}
	return out, nil
}

func zoneName(z Zone) string { return z.Name }
