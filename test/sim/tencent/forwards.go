package tencent

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

// Forward is one port that clients reach, and the targets that answer.
type Forward struct {
	Address  string
	Public   bool
	Port     int
	Protocol string   // TCP, UDP, TCP_SSL, QUIC, HTTP or HTTPS
	Targets  []string // instance or address, with the port
}

// Forwards returns what the load balancers pass on: every listener that has a target with a weight.
func (c *Cloud) Forwards() []Forward {
	var out []Forward
	c.Locked(func() {
		for _, lb := range c.Live.All(balancers, nil) {
			for _, l := range c.Live.Having(listeners, owner, lb.Text("id")) {
				if f := c.forwardOf(lb, l); len(f.Targets) > 0 {
					out = append(out, f)
				}
			}
		}
	})
	slices.SortFunc(out, func(a, b Forward) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol))
	})
	return out
}

func (c *Cloud) forwardOf(lb, l rest.Object) Forward {
	f := Forward{Address: AddressOf(lb), Public: lb.Text("LoadBalancerType") == "OPEN", Protocol: l.Text("Protocol"), Port: numberOf(l, "Port", 0)}
	for _, o := range append(c.Live.Having(rules, "ListenerId", l.Text("id")), l) {
		for _, t := range o.Objects("Targets") {
			if name := targetName(t); numberOf(t, "Weight", 10) > 0 && !slices.Contains(f.Targets, name) {
				f.Targets = append(f.Targets, name)
			}
		}
	}
	slices.Sort(f.Targets)
	return f
}

// AddressOf returns the address or the domain of a load balancer.
func AddressOf(lb rest.Object) string {
	for _, a := range append(lb.Texts("LoadBalancerVips"), lb.Text("LoadBalancerDomain"), lb.Text("AddressIPv6")) {
		if a != "" {
			return a
		}
	}
	return fmt.Sprint("pending ", lb.Text("id"))
}
