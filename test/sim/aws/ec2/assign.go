package ec2

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// maxInterfaceIPs is how many private IPv4 addresses an interface can have on
// the largest instance types; smaller types allow fewer, which is not simulated.
// Source: EC2 user guide, IP addresses per network interface.
const maxInterfaceIPs = 50

type assignedIPXML struct {
	IP string `xml:"privateIpAddress"`
}

type assignedXML struct {
	Interface string                     `xml:"networkInterfaceId"`
	IPs       query.Items[assignedIPXML] `xml:"assignedPrivateIpAddressesSet"`
}

// assignPrivateIPAddresses gives an interface secondary addresses, which is where
// the addresses of pods come from. Prefixes are not simulated.
func assignPrivateIPAddresses(c *call) (any, error) {
	i, err := c.ownInterface()
	if err != nil {
		return nil, err
	}
	given := c.Strs("PrivateIpAddress")
	count, counted, err := c.Int("SecondaryPrivateIpAddressCount")
	switch {
	case err != nil:
		return nil, err
	case counted && len(given) > 0:
		return nil, query.Errorf("InvalidParameterCombination", "The parameter secondaryPrivateIpAddressCount cannot be used with the parameter privateIpAddress")
	case !counted && len(given) == 0:
		return nil, query.Errorf("MissingParameter", "The request must contain the parameter privateIpAddress or secondaryPrivateIpAddressCount")
	case counted && count < 1:
		return nil, query.Errorf("InvalidParameterValue", "Value (%d) for parameter secondaryPrivateIpAddressCount is invalid.", count)
	}
	reassign, _, err := c.Bool("AllowReassignment")
	if err != nil {
		return nil, err
	}
	added := slices.DeleteFunc(slices.Clone(given), func(ip string) bool { return slices.Contains(i.IPs, ip) })
	if len(i.IPs)+len(added)+count > maxInterfaceIPs {
		return nil, query.Errorf("PrivateIpAddressLimitExceeded", "Number of private addresses will exceed limit.")
	}
	var losers []Interface
	if reassign {
		losers = c.holders(i, added)
	}
	taken, err := c.takeIPs(i, added, count, losers)
	if err != nil {
		return nil, err
	}
	for _, loser := range losers {
		c.removeIPs(loser, added)
	}
	i.IPs = slices.Concat(i.IPs, taken)
	c.st.interfaces[i.ID] = i
	out := assignedXML{Interface: i.ID}
	for _, ip := range slices.Concat(given, taken[len(added):]) {
		out.IPs.Item = append(out.IPs.Item, assignedIPXML{ip})
	}
	return out, nil
}

// ownInterface reads NetworkInterfaceId; those of load balancers are AWS's own.
func (c *call) ownInterface() (Interface, error) {
	i, err := required(c, c.st.interfaces, kindInterface(), "NetworkInterfaceId")
	if err == nil && i.managed() {
		err = query.Errorf("AuthFailure", "You do not have permission to access the specified resource.")
	}
	return i, err
}

// holders are the other interfaces that have one of the addresses as a secondary
// one, which may be taken from them.
func (c *call) holders(to Interface, ips []string) []Interface {
	var out []Interface
	for _, o := range sorted(c.st.interfaces) {
		if o.ID == to.ID || o.Subnet != to.Subnet || o.managed() || len(o.IPs) == 0 {
			continue
		}
		if slices.ContainsFunc(o.IPs[1:], func(ip string) bool { return slices.Contains(ips, ip) }) {
			out = append(out, o)
		}
	}
	return out
}

// takeIPs claims the given addresses, then as many free ones as are counted.
func (c *call) takeIPs(i Interface, given []string, count int, losers []Interface) ([]string, error) {
	alloc := c.st.allocator(c.st.subnets[i.Subnet])
	for _, loser := range losers {
		for _, ip := range loser.IPs[1:] {
			if slices.Contains(given, ip) {
				delete(alloc.used, ip)
				alloc.left++
			}
		}
	}
	var out []string
	for _, ip := range given {
		if err := alloc.claim(ip); err != nil {
			return nil, err
		}
		out = append(out, ip)
	}
	for range count {
		ip, err := alloc.take()
		if err != nil {
			return nil, err
		}
		out = append(out, ip)
	}
	return out, nil
}

// removeIPs takes addresses from an interface, and elastic addresses off them.
func (c *call) removeIPs(i Interface, ips []string) {
	for _, ip := range ips {
		if d, ok := c.st.addressOn(i, ip); ok {
			c.st.addresses[d.ID] = Address{ID: d.ID, PublicIP: d.PublicIP}
		}
	}
	i.IPs = slices.DeleteFunc(slices.Clone(i.IPs), func(ip string) bool { return slices.Contains(ips, ip) })
	c.st.interfaces[i.ID] = i
}

func unassignPrivateIPAddresses(c *call) (any, error) {
	i, err := c.ownInterface()
	if err != nil {
		return nil, err
	}
	gone := c.Strs("PrivateIpAddress")
	if len(gone) == 0 {
		return nil, query.Errorf("MissingParameter", "The request must contain the parameter privateIpAddress")
	}
	for _, ip := range gone {
		switch at := slices.Index(i.IPs, ip); at {
		case -1:
			return nil, query.Errorf("InvalidParameterValue", "Some of %v addresses are not assigned to interface %s", gone, i.ID)
		case 0:
			return nil, query.Errorf("InvalidParameterValue", "The primary private IP address %s cannot be unassigned from interface %s", ip, i.ID)
		}
	}
	c.removeIPs(i, gone)
	return nil, nil
}
