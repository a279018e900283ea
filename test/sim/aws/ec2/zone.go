package ec2

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
	return describeAs(c, listing[Zone]{
		id:      func(z Zone) string { return z.Name },
		props:   properties[Zone]{"zone-name": func(_ *call, z Zone) []string { return singleValue(z.Name) }},
		objects: c.opt.Zones,
	}, "availabilityZoneInfo", func(z Zone) zoneXML {
		return zoneXML{
			OptIn: "opt-in-not-required", Region: c.opt.Region, Name: z.Name, ID: z.ID, Group: c.zoneGroup(),
			Border: c.opt.Region, Type: z.Type, State: "available",
		}
	})
}
