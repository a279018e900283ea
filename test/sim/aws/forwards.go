package aws

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/ec2"
	"github.com/berth-lb/berth/test/sim/aws/network"
)

// Passage is one packet that reaches targets: from a client to a port of a load balancer.
type Passage struct {
	Source   netip.Addr
	Balancer string // ARN of a Network Load Balancer, name of a Classic one
	Protocol string // TCP or UDP
	Port     int
	Targets  []string // such as i-0a1b:31080, in order
}

// Forwards sends packets through the load balancers and security groups as they are now, and
// returns the packets that reach targets. Clients are the given ones, the first address of
// every range of an inbound rule, and the one behind its last.
// Sources: User Guide for Network Load Balancers, "Security groups" and "Client IP
// preservation"; User Guide for Classic Load Balancers; Amazon VPC, "Security group rules".
func (c *Cloud) Forwards(clients ...netip.Addr) []Passage {
	f := newFabric(c.EC2.World())
	clients = append(slices.Clone(clients), f.edges()...)
	slices.SortFunc(clients, netip.Addr.Compare)
	clients = slices.Compact(clients)
	found := map[string]*Passage{}
	var order []string
	for _, p := range slices.Concat(c.ELB.Paths(), c.ELBV2.Paths()) {
		for _, client := range clients {
			if !f.passes(p, client) {
				continue
			}
			at := fmt.Sprint(p.Balancer, p.Protocol, p.Port, client)
			if found[at] == nil {
				found[at] = &Passage{Source: client, Balancer: p.Balancer, Protocol: p.Protocol, Port: p.Port}
				order = append(order, at)
			}
			found[at].Targets = append(found[at].Targets, net.JoinHostPort(p.Target, strconv.Itoa(p.TargetPort)))
		}
	}
	out := make([]Passage, 0, len(order))
	for _, at := range order {
		slices.Sort(found[at].Targets)
		found[at].Targets = slices.Compact(found[at].Targets)
		out = append(out, *found[at])
	}
	return out
}

// fabric is the part of a VPC that decides on packets.
type fabric struct {
	inbound   map[string][]ec2.Rule   // by security group
	targets   map[string][]string     // security groups by instance and by address
	senders   map[string][]netip.Addr // addresses of load balancers by owner
	instances map[string]bool         // that run
}

func newFabric(w ec2.World) *fabric {
	f := &fabric{inbound: map[string][]ec2.Rule{}, targets: map[string][]string{}, senders: map[string][]netip.Addr{}, instances: map[string]bool{}}
	for _, g := range w.Groups {
		f.inbound[g.ID] = g.Ingress
	}
	for _, i := range w.Instances {
		f.instances[i.ID] = i.State == "running"
	}
	for _, i := range w.Interfaces {
		if i.Instance != "" && i.DeviceIndex == 0 {
			f.targets[i.Instance] = i.Groups
		}
		for _, text := range slices.Concat(i.IPs, i.IPv6s) {
			f.targets[text] = i.Groups
			if a, err := netip.ParseAddr(text); err == nil && i.Owner != "" {
				f.senders[i.Owner] = append(f.senders[i.Owner], a)
			}
		}
	}
	return f
}

// edges returns the first address of every range of an inbound rule, and the one behind its last.
func (f *fabric) edges() []netip.Addr {
	var out []netip.Addr
	for _, rules := range f.inbound {
		for _, r := range rules {
			for _, text := range []string{r.CIDR, r.IPv6CIDR} {
				p, err := netip.ParsePrefix(text)
				if err != nil {
					continue
				}
				out = append(out, p.Masked().Addr())
				if next := addressAfter(p); next.IsValid() {
					out = append(out, next)
				}
			}
		}
	}
	return out
}

// addressAfter returns the address that follows the last one of a range; invalid: there is none.
func addressAfter(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	last, _ := netip.AddrFromSlice(b) // its length is that of an address
	return last.Next()
}

// passes reports whether a packet of a client reaches the target of a path: the groups of the
// load balancer admit the client, and the groups of the target admit what it sees as the
// source. That is the load balancer unless the address of the client is preserved, which a
// translation between the families rules out.
func (f *fabric) passes(p network.Path, client netip.Addr) bool {
	if client.Is6() && !p.Dual || len(p.Groups) > 0 && !f.admits(p.Groups, nil, p.Protocol, p.Port, client) {
		return false
	}
	groups, known := f.targets[p.Target]
	if running, is := f.instances[p.Target]; !known || is && !running {
		return false
	}
	if p.Preserves && client.Is6() == p.IPv6 {
		return f.admits(groups, p.Groups, p.Protocol, p.TargetPort, client)
	}
	from := f.senders[p.Owner]
	return len(from) > 0 && !slices.ContainsFunc(from, func(a netip.Addr) bool {
		return a.Is6() == p.IPv6 && !f.admits(groups, p.Groups, p.Protocol, p.TargetPort, a)
	})
}

// admits reports whether an inbound rule of one of the groups admits a source: its address, or
// one of the groups that it has.
func (f *fabric) admits(groups, of []string, protocol string, port int, source netip.Addr) bool {
	for _, g := range groups {
		for _, r := range f.inbound[g] {
			if r.Protocol != "-1" && (r.Protocol != strings.ToLower(protocol) || port < r.From || r.To < port) {
				continue
			}
			if r.Group != "" && slices.Contains(of, r.Group) {
				return true
			}
			for _, text := range []string{r.CIDR, r.IPv6CIDR} {
				if p, err := netip.ParsePrefix(text); err == nil && p.Contains(source) {
					return true
				}
			}
		}
	}
	return false
}
