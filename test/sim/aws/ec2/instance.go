package ec2

import (
	"maps"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/aws/query"
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
	ID         string                    `xml:"instanceId"`
	Image      string                    `xml:"imageId"`
	State      stateXML                  `xml:"instanceState"`
	DNS        string                    `xml:"privateDnsName"`
	PublicDNS  string                    `xml:"dnsName"`
	Reason     string                    `xml:"reason"`
	Key        string                    `xml:"keyName,omitempty"`
	Index      int                       `xml:"amiLaunchIndex"`
	Products   query.Items[struct{}]     `xml:"productCodes"`
	Type       string                    `xml:"instanceType"`
	Launched   string                    `xml:"launchTime"`
	Placement  placementXML              `xml:"placement"`
	Monitoring statusXML                 `xml:"monitoring"`
	Subnet     string                    `xml:"subnetId,omitempty"`
	VPC        string                    `xml:"vpcId,omitempty"`
	IP         string                    `xml:"privateIpAddress,omitempty"`
	PublicIP   string                    `xml:"ipAddress,omitempty"`
	IPv6       string                    `xml:"ipv6Address,omitempty"`
	SourceDest *bool                     `xml:"sourceDestCheck"`
	Groups     query.Items[groupRefXML]  `xml:"groupSet"`
	StateWhy   *reasonXML                `xml:"stateReason"`
	Arch       string                    `xml:"architecture"`
	RootType   string                    `xml:"rootDeviceType"`
	RootName   string                    `xml:"rootDeviceName"`
	Disks      query.Items[struct{}]     `xml:"blockDeviceMapping"`
	Virt       string                    `xml:"virtualizationType"`
	Token      string                    `xml:"clientToken"`
	Tags       *tagSet                   `xml:"tagSet"`
	Hypervisor string                    `xml:"hypervisor"`
	Interfaces query.Items[interfaceXML] `xml:"networkInterfaceSet"`
	EBS        bool                      `xml:"ebsOptimized"`
	ENA        bool                      `xml:"enaSupport"`
}

func (c *call) instanceXML(i Instance) instanceXML {
	x := instanceXML{
		ID: i.ID, Image: i.Image, State: stateOf(i.State), DNS: c.privateDNS(i.PrivateIP), Reason: i.Reason, Key: i.Key,
		Index: i.LaunchIndex, Type: i.Type, Launched: stamp(i.Launched),
		Placement:  placementXML{Zone: i.Zone, ZoneID: c.zoneID(i.Zone), Tenancy: "default"},
		Monitoring: statusXML{"disabled"}, Subnet: i.Subnet, VPC: i.VPC, IP: i.PrivateIP, Arch: "x86_64", RootType: "ebs",
		RootName: rootDevice, Virt: "hvm", Token: i.ClientToken, Tags: c.tagsXML(i.ID), Hypervisor: "xen", ENA: true,
	}
	if i.Reason != "" {
		x.StateWhy = &reasonXML{"Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"}
	}
	if i.Switches.Monitored {
		x.Monitoring.State = "enabled"
	}
	x.EBS = i.Switches.EBSOptimized
	if i.VPC != "" {
		check := !i.SourceDestCheckOff
		x.SourceDest = &check
	}
	for n, eni := range c.interfacesOf(i.ID) {
		ex := c.interfaceXML(eni).withinInstance()
		x.Interfaces.Item = append(x.Interfaces.Item, ex)
		if n == 0 {
			x.Groups = ex.Groups
			if len(eni.IPv6) > 0 {
				x.IPv6 = eni.IPv6[0]
			}
			if ex.Public != nil {
				x.PublicIP, x.PublicDNS = ex.Public.IP, ex.Public.DNS
			}
		}
	}
	return x
}

type reservationXML struct {
	ID        string                   `xml:"reservationId"`
	Owner     string                   `xml:"ownerId"`
	Groups    query.Items[struct{}]    `xml:"groupSet"`
	Instances query.Items[instanceXML] `xml:"instancesSet"`
}

// visibleInstances leaves out what was terminated long ago.
func (c *call) visibleInstances() []Instance {
	return slices.DeleteFunc(sorted(c.st.instances), func(i Instance) bool {
		return i.State == "terminated" && !i.Ended.IsZero() && c.Now.Sub(i.Ended) > c.opt.TerminatedFor
	})
}

func describeInstances(c *call) (any, error) {
	page, next, err := describe(c, listing[Instance]{
		kind: kindInstance(), param: "InstanceId", id: func(i Instance) string { return i.ID },
		props: instanceProperties(), objects: c.visibleInstances(), exclusive: "instancesSet",
	})
	if err != nil {
		return nil, err
	}
	out := struct {
		Reservations query.Items[reservationXML] `xml:"reservationSet"`
		Next         string                      `xml:"nextToken,omitempty"`
	}{Next: next}
	at := map[string]int{}
	list := &out.Reservations.Item
	for _, i := range page {
		n, ok := at[i.Reservation]
		if !ok {
			n = len(*list)
			at[i.Reservation] = n
			*list = append(*list, reservationXML{ID: i.Reservation, Owner: c.opt.Account})
		}
		(*list)[n].Instances.Item = append((*list)[n].Instances.Item, c.instanceXML(i))
	}
	return out, nil
}

// shownProperties are those of what is worked out only when a machine is shown.
func shownProperties() properties[Instance] {
	return properties[Instance]{
		"reason":           func(_ *call, i Instance) []string { return one(i.Reason) },
		"root-device-name": func(*call, Instance) []string { return one(rootDevice) },
		"ebs-optimized":    func(_ *call, i Instance) []string { return boolean(i.Switches.EBSOptimized) },
		"ena-support":      func(*call, Instance) []string { return boolean(true) },
		"dns-name":         func(c *call, i Instance) []string { return one(c.instanceXML(i).PublicDNS) },
		"monitoring-state": func(c *call, i Instance) []string { return one(c.instanceXML(i).Monitoring.State) },
		"state-reason-code": func(c *call, i Instance) []string {
			if why := c.instanceXML(i).StateWhy; why != nil {
				return one(why.Code)
			}
			return nil
		},
	}
}

func instanceProperties() properties[Instance] {
	viaInterface := func(of property[Interface]) property[Instance] {
		return func(c *call, i Instance) []string {
			var out []string
			for _, eni := range c.interfacesOf(i.ID) {
				out = append(out, of(c, eni)...)
			}
			return out
		}
	}
	p := properties[Instance]{
		"architecture":         func(*call, Instance) []string { return one("x86_64") },
		"availability-zone":    func(_ *call, i Instance) []string { return one(i.Zone) },
		"availability-zone-id": func(c *call, i Instance) []string { return one(c.zoneID(i.Zone)) },
		"client-token":         func(_ *call, i Instance) []string { return one(i.ClientToken) },
		"image-id":             func(_ *call, i Instance) []string { return one(i.Image) },
		"instance-id":          func(_ *call, i Instance) []string { return one(i.ID) },
		"instance-state-code":  func(_ *call, i Instance) []string { return one(strconv.Itoa(stateOf(i.State).Code)) },
		"instance-state-name":  func(_ *call, i Instance) []string { return one(i.State) },
		"instance-type":        func(_ *call, i Instance) []string { return one(i.Type) },
		"key-name":             func(_ *call, i Instance) []string { return one(i.Key) },
		"launch-index":         func(_ *call, i Instance) []string { return one(strconv.Itoa(i.LaunchIndex)) },
		"launch-time":          func(_ *call, i Instance) []string { return one(stamp(i.Launched)) },
		"owner-id":             func(c *call, _ Instance) []string { return one(c.opt.Account) },
		"private-dns-name":     func(c *call, i Instance) []string { return one(c.privateDNS(i.PrivateIP)) },
		"private-ip-address":   func(_ *call, i Instance) []string { return one(i.PrivateIP) },
		"reservation-id":       func(_ *call, i Instance) []string { return one(i.Reservation) },
		"source-dest-check":    func(_ *call, i Instance) []string { return boolean(!i.SourceDestCheckOff) },
		"subnet-id":            func(_ *call, i Instance) []string { return one(i.Subnet) },
		"tenancy":              func(*call, Instance) []string { return one("default") },
		"virtualization-type":  func(*call, Instance) []string { return one("hvm") },
		"root-device-type":     func(*call, Instance) []string { return one("ebs") },
		"hypervisor":           func(*call, Instance) []string { return one("xen") },
		"vpc-id":               func(_ *call, i Instance) []string { return one(i.VPC) },
	}
	maps.Copy(p, shownProperties())
	byInterface := interfaceProperties()
	for name, of := range byInterface {
		if of == nil {
			p["network-interface."+name] = nil
		} else {
			p["network-interface."+name] = viaInterface(of)
		}
	}
	for alias, name := range map[string]string{
		"instance.group-id": "group-id", "group-id": "group-id", "instance.group-name": "group-name", "group-name": "group-name",
		"ip-address": "association.public-ip", "ipv6-address": "ipv6-addresses.ipv6-address",
	} {
		p[alias] = viaInterface(byInterface[name])
	}
	return p.unused("affinity", "block-device-mapping.volume-id", "block-device-mapping.device-name", "block-device-mapping.status",
		"capacity-reservation-id", "host-id", "iam-instance-profile.arn", "iam-instance-profile.id",
		"instance-lifecycle", "kernel-id", "metadata-options.http-endpoint", "metadata-options.http-tokens",
		"placement-group-name", "platform", "platform-details", "product-code", "ramdisk-id", "requester-id",
		"spot-instance-request-id", "state-reason-message", "outpost-arn")
}
