package ec2

import (
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// zoneGroup is the group that the availability zones of a region are in.
// Source: localstack/localstack:tests/aws/services/ec2/test_ec2.snapshot.json, recorded from AWS.
func (c *call) zoneGroup() string { return c.opt.Region + "-zg-1" }

func (c *call) zoneID(name string) string {
	for _, z := range c.opt.Zones {
		if z.Name == name {
			return z.ID
		}
	}
	return ""
}

type zoneXML struct {
	OptIn    string     `xml:"optInStatus"`
	Messages []struct{} `xml:"messageSet"`
	Region   string     `xml:"regionName"`
	Name     string     `xml:"zoneName"`
	ID       string     `xml:"zoneId"`
	Group    string     `xml:"groupName"`
	Border   string     `xml:"networkBorderGroup"`
	Type     string     `xml:"zoneType"`
	State    string     `xml:"zoneState"`
}

func describeAvailabilityZones(c *call) (any, error) {
	objects, err := selectBy(c, properties[Zone]{
		"zone-name": func(_ *call, z Zone) []string { return singleValue(z.Name) },
	}, func(z Zone) string { return z.Name }, c.opt.Zones)
	if err != nil {
		return nil, err
	}
	var out []zoneXML
	for _, z := range objects {
		out = append(out, zoneXML{
			OptIn: "opt-in-not-required", Region: c.opt.Region, Name: z.Name, ID: z.ID, Group: c.zoneGroup(),
			Border: c.opt.Region, Type: z.Type, State: "available",
		})
	}
	return query.List{Name: "availabilityZoneInfo", Items: out}, nil
}
