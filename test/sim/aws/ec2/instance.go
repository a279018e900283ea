package ec2

import (
	"slices"
)

// rootDevice is where the disk is that a machine boots from.
const rootDevice = "/dev/xvda"

type stateXML struct {
	Code int    `xml:"code"`
	Name string `xml:"name"`
}

// stateOf gives EC2's number for a state. Source: EC2 API reference, InstanceState.
func stateOf(name string) stateXML {
	codes := map[string]int{"pending": 0, "running": 16, "shutting-down": 32, "terminated": 48, "stopping": 64, "stopped": 80}
	return stateXML{codes[name], name}
}

type placementXML struct {
	Zone    string `xml:"availabilityZone"`
	ZoneID  string `xml:"availabilityZoneId"`
	Group   string `xml:"groupName"`
	Tenancy string `xml:"tenancy"`
}

type reasonXML struct {
	Code    string `xml:"code"`
	Message string `xml:"message"`
}

// instanceXML has as many fields as the wire.
type instanceXML struct {
	ID         string         `xml:"instanceId"`
	Image      string         `xml:"imageId"`
	State      stateXML       `xml:"instanceState"`
	DNS        string         `xml:"privateDnsName"`
	PublicDNS  string         `xml:"dnsName"`
	Reason     string         `xml:"reason"`
	Type       string         `xml:"instanceType"`
	Launched   string         `xml:"launchTime"`
	Placement  placementXML   `xml:"placement"`
	Monitoring statusXML      `xml:"monitoring"`
	Subnet     string         `xml:"subnetId,omitempty"`
	VPC        string         `xml:"vpcId,omitempty"`
	IP         string         `xml:"privateIpAddress,omitempty"`
	Groups     []groupRefXML  `xml:"groupSet"`
	StateWhy   *reasonXML     `xml:"stateReason"`
	Arch       string         `xml:"architecture"`
	RootType   string         `xml:"rootDeviceType"`
	RootName   string         `xml:"rootDeviceName"`
	Virt       string         `xml:"virtualizationType"`
	Tags       []tagXML       `xml:"tagSet,omitempty"`
	Hypervisor string         `xml:"hypervisor"`
	Interfaces []interfaceXML `xml:"networkInterfaceSet"`
}

func (c *call) instanceXML(i Instance) instanceXML {
	x := instanceXML{
		ID: i.ID, Image: i.Image, State: stateOf(i.State), DNS: c.privateDNS(i.PrivateIP), Reason: i.Reason,
		Type: i.Type, Launched: formatTime(i.Launched),
		Placement:  placementXML{Zone: i.Zone, ZoneID: c.zoneID(i.Zone), Tenancy: "default"},
		Monitoring: statusXML{"disabled"}, Subnet: i.Subnet, VPC: i.VPC, IP: i.PrivateIP, Arch: "x86_64", RootType: "ebs",
		RootName: rootDevice, Virt: "hvm", Tags: c.tagsXML(i.ID), Hypervisor: "xen",
	}
	if i.Reason != "" {
		x.StateWhy = &reasonXML{"Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"}
	}
	for n, eni := range c.interfacesOf(i.ID) {
		ex := c.interfaceXML(eni).withinInstance()
		x.Interfaces = append(x.Interfaces, ex)
		if n == 0 {
			x.Groups = ex.Groups
		}
	}
	return x
}

type reservationXML struct {
	ID        string        `xml:"reservationId"`
	Owner     string        `xml:"ownerId"`
	Groups    []struct{}    `xml:"groupSet"`
	Instances []instanceXML `xml:"instancesSet"`
}

// visibleInstances leaves out what was terminated long ago.
func (c *call) visibleInstances() []Instance {
	return slices.DeleteFunc(sortedByID(c.st.instances), func(i Instance) bool {
		return i.State == "terminated" && !i.Ended.IsZero() && c.Now.Sub(i.Ended) > c.opt.TerminatedFor
	})
}

func describeInstances(c *call) (any, error) {
	page, next, err := describePage(c, listing[Instance]{
		kind: kindOf("i"), param: "InstanceId", id: func(i Instance) string { return i.ID },
		props: instanceProperties(), objects: c.visibleInstances(), exclusive: "instancesSet",
	})
	if err != nil {
		return nil, err
	}
	out := struct {
		Reservations []reservationXML `xml:"reservationSet"`
		Next         string           `xml:"nextToken,omitempty"`
	}{Next: next}
	at := map[string]int{}
	list := &out.Reservations
	for _, i := range page {
		n, ok := at[i.Reservation]
		if !ok {
			n = len(*list)
			at[i.Reservation] = n
			*list = append(*list, reservationXML{ID: i.Reservation, Owner: c.opt.Account})
		}
		(*list)[n].Instances = append((*list)[n].Instances, c.instanceXML(i))
	}
	return out, nil
}

func instanceProperties() properties[Instance] {
	return properties[Instance]{
		"availability-zone":   func(_ *call, i Instance) []string { return singleValue(i.Zone) },
		"instance-id":         func(_ *call, i Instance) []string { return singleValue(i.ID) },
		"instance-state-name": func(_ *call, i Instance) []string { return singleValue(i.State) },
		"private-dns-name":    func(c *call, i Instance) []string { return singleValue(c.privateDNS(i.PrivateIP)) },
		"subnet-id":           func(_ *call, i Instance) []string { return singleValue(i.Subnet) },
		"vpc-id":              func(_ *call, i Instance) []string { return singleValue(i.VPC) },
	}
}
