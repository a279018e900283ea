package alibaba

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// Forward is one port that clients reach, and the servers that answer.
type Forward struct {
	Address  string
	Public   bool
	Port     int
	Protocol string   // tcp, udp, http or https
	Servers  []string // instance:port, address of a pod:port, or redirect:port
	// Admits and Denies are the entries of access control lists; none: all clients are admitted.
	Admits, Denies []string
}

// Forwards returns what the load balancers pass on: every running listener whose group has a
// server with a weight.
func (c *Cloud) Forwards() []Forward {
	var out []Forward
	c.Locked(func() {
		for _, lb := range c.Live.All(balancers, nil) {
			for _, l := range c.Live.Having(listeners, owner, lb.Text("id")) {
				if f := c.forwardOf(lb, l); l.Text("Status") == "running" && len(f.Servers) > 0 {
					out = append(out, f)
				}
			}
		}
	})
	out = append(out, c.netForwards()...)
	slices.SortFunc(out, func(a, b Forward) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol))
	})
	return out
}

func (c *Cloud) forwardOf(lb, l rest.Object) Forward {
	f := Forward{Address: lb.Text("Address"), Public: lb.Text("AddressType") == "internet", Protocol: l.Text("ListenerProtocol")}
	f.Port, _ = l.Number("ListenerPort")
	c.addAccess(&f, l)
	if port, ok := l.Object("settings").Number("ForwardPort"); ok {
		f.Servers = []string{fmt.Sprint("redirect:", port)}
		return f
	}
	g, _ := c.Live.Get(groups, l.Text("VServerGroupId"))
	for _, s := range g.Objects("servers") {
		port, _ := s.Number("Port")
		if weight, _ := s.Number("Weight"); weight > 0 {
			name := s.Text("ServerId")
			if s.Text("Type") == "eni" { // an interface may have the addresses of several pods
				name = s.Text("ServerIp")
			}
			f.Servers = append(f.Servers, fmt.Sprintf("%s:%d", name, port))
		}
	}
	slices.Sort(f.Servers)
	return f
}

// addAccess adds the entries of the lists of a listener. An empty list admits everyone.
func (c *Cloud) addAccess(f *Forward, l rest.Object) {
	if l.Text("AclStatus") != "on" {
		return
	}
	var entries []string
	for id := range strings.SplitSeq(l.Text("AclId"), ",") {
		list, _ := c.Live.Get(lists, id)
		entries = append(entries, list.Texts("entries")...)
	}
	slices.Sort(entries)
	if l.Text("AclType") == "black" {
		f.Denies = entries
	} else {
		f.Admits = entries
	}
}

// netForwards returns what network load balancers pass on. That of a range has its first port.
func (c *Cloud) netForwards() []Forward {
	var out []Forward
	c.Locked(func() {
		for _, lb := range c.Live.All(nets, nil) {
			if status := lb.Text("LoadBalancerStatus"); status != active && status != configuring {
				continue
			}
			admits, all := c.admittedBySecurity(lb)
			if lb.Text("AddressType") == "Intranet" && !all {
				admits = slices.DeleteFunc(admits, func(text string) bool { return !isPrivate(text) })
			}
			for _, l := range c.Live.Having(netListeners, owner, lb.Text("id")) {
				f := Forward{Address: lb.Text("DNSName"), Public: lb.Text("AddressType") == "Internet", Protocol: strings.ToLower(transportOfNet(l.Text("ListenerProtocol")))}
				f.Port, _ = netPorts(l)
				g, _ := c.Live.Get(serverGroups, l.Text("ServerGroupId"))
				for _, s := range g.Objects("servers") {
					name := s.Text("ServerIp")
					if s.Text("ServerType") == "Ecs" {
						name = s.Text("ServerId")
					}
					port, _ := s.Number("Port")
					if weight, _ := s.Number("Weight"); weight > 0 {
						f.Servers = append(f.Servers, fmt.Sprintf("%s:%d", name, port))
					}
				}
				slices.Sort(f.Servers)
				if !all {
					f.Admits = admits
				}
				if l.Text("ListenerStatus") == running && len(f.Servers) > 0 && (all || len(admits) > 0) {
					out = append(out, f)
				}
			}
		}
	})
	return out
}

// admittedBySecurity returns the ranges that the security groups of a load balancer accept; all: it has none, or
// one accepts every client.
func (c *Cloud) admittedBySecurity(lb rest.Object) (ranges []string, all bool) {
	ids := lb.Texts("SecurityGroupIds")
	for _, id := range ids {
		g, _ := c.Live.Get(securityGroups, id)
		for _, r := range g.Objects("rules") {
			if text := r.Text("SourceCidrIp"); r.Text("Policy") == "Accept" && text != "" {
				ranges = append(ranges, text)
			}
		}
	}
	slices.Sort(ranges)
	return ranges, len(ids) == 0 || slices.Contains(ranges, "0.0.0.0/0")
}

// isPrivate reports whether a range has clients of private networks.
func isPrivate(text string) bool {
	given, err := netip.ParsePrefix(text)
	return err == nil && slices.ContainsFunc([]string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"}, func(private string) bool {
		return netip.MustParsePrefix(private).Overlaps(given)
	})
}
