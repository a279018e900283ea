package ec2

import (
	"fmt"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// nic is one interface of a machine to be launched.
type nic struct {
	query.Params
	subnet   Subnet
	groups   []string
	existing string
	index    int
	// public lends the interface a public address; keep leaves it after the machine.
	public, keep bool
}

// readNICs reads the interfaces of a launch, in whichever of both forms they came.
func readNICs(c *call) ([]nic, error) {
	list := c.List("NetworkInterface")
	if len(list) == 0 {
		n, err := readNIC(c, c.Params)
		return []nic{n}, err
	}
	for name, words := range map[string]string{"SubnetId": "subnet ID", "SecurityGroupId": "security groups", "SecurityGroup": "security groups"} {
		if c.Has(name) {
			return nil, query.Errorf("InvalidParameterCombination", "Network interfaces and an instance-level %s may not be specified on the same request", words)
		}
	}
	var out []nic
	for _, p := range list {
		n, err := readNIC(c, p)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

func readNIC(c *call, p query.Params) (nic, error) {
	n := nic{Params: p, existing: p.Str("NetworkInterfaceId")}
	var err error
	if n.index, _, err = p.Int("DeviceIndex"); err != nil {
		return n, err
	}
	gone, told, err := p.Bool("DeleteOnTermination")
	if err != nil {
		return n, err
	}
	n.keep = told && !gone
	if n.existing != "" {
		i, err := find(c.st.interfaces, kindInterface(), n.existing)
		if err == nil && i.status() == "in-use" {
			err = query.Errorf("InvalidNetworkInterface.InUse", "Interface: [%s] in use.", i.ID)
		}
		n.keep = !told || !gone
		return n, err
	}
	if err := n.place(c); err != nil {
		return n, err
	}
	public, told, err := p.Bool("AssociatePublicIpAddress")
	if !told {
		public = n.subnet.PublicIPOnLaunch
	}
	n.public = public && n.index == 0
	return n, err
}

// place finds subnet and groups.
func (n *nic) place(c *call) error {
	var err error
	zone := c.Str("Placement.AvailabilityZone")
	if zone != "" && c.zoneID(zone) == "" {
		return query.Errorf("InvalidParameterValue", "Invalid availability zone: [%s]", zone)
	}
	if id := n.Str("SubnetId"); id != "" {
		n.subnet, err = find(c.st.subnets, kindSubnet(), id)
	} else {
		n.subnet, err = c.defaultSubnet(zone)
	}
	if err != nil {
		return err
	}
	ids := n.Strs("SecurityGroupId")
	for _, name := range c.Strs("SecurityGroup") {
		g, err := namedGroup(c, name)
		if err != nil {
			return err
		}
		ids = append(ids, g.ID)
	}
	n.groups, err = c.interfaceGroups(n.subnet.VPC, ids)
	return err
}

// plug makes the interface, or takes the existing one. Machines after the first
// one of a launch cannot have the same addresses and get any.
func (c *call) plug(n nic, more bool) (Interface, error) {
	if n.existing != "" {
		i := c.st.interfaces[n.existing]
		if more || i.Instance != "" {
			return i, query.Errorf("InvalidNetworkInterface.InUse", "Interface: [%s] in use.", i.ID)
		}
		i.DeviceIndex, i.DeleteOnTermination = n.index, !n.keep
		return i, nil
	}
	p := n.Params
	if more {
		p = query.Params{}
	}
	ips, err := c.wantedIPs(n.subnet, p)
	if err != nil {
		return Interface{}, err
	}
	six, err := c.wantedIPv6(n.subnet, n.Params)
	if err != nil {
		return Interface{}, err
	}
	i := newInterface(c.st, n.subnet, n.groups, ips...)
	i.IPv6, i.DeviceIndex, i.DeleteOnTermination, i.Description = six, n.index, !n.keep, n.Str("Description")
	if n.public {
		i.PublicIP = c.lentIP()
	}
	return i, nil
}

// lentIP gives a public address that is nobody's elastic one; it is from the
// range that is set aside for benchmarks (RFC 2544).
func (c *call) lentIP() string {
	used := map[string]bool{}
	for _, i := range c.st.interfaces {
		used[i.PublicIP] = true
	}
	for n := 1; ; n++ {
		if ip := fmt.Sprintf("198.19.%d.%d", 128|n>>8&127, n&255); !used[ip] {
			return ip
		}
	}
}
