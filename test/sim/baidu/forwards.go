package baidu

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

// Forward is one port that clients reach, and the backends that answer.
type Forward struct {
	Address  string
	Public   bool
	Port     int
	Protocol string
	Targets  []string // instance or address, with the port
}

// Forwards returns what the load balancers pass on: every listener that has a backend with a weight.
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
	f := Forward{Address: lb.Text("address"), Protocol: l.Text("listenerType"), Port: numberOf(l, "listenerPort", 0)}
	if public := lb.Text("publicIp"); public != "" {
		f.Address, f.Public = public, true
	}
	add := func(members []rest.Object, port int) {
		for _, m := range members {
			if name := fmt.Sprintf("%s%s:%d", m.Text("instanceId"), m.Text("ip"), numberOf(m, "port", port)); numberOf(m, "weight", 100) > 0 && !slices.Contains(f.Targets, name) {
				f.Targets = append(f.Targets, name)
			}
		}
	}
	if lb.Text(kindOf) == normal {
		add(lb.Objects("servers"), numberOf(l, "backendPort", 0))
	}
	for _, p := range c.Live.Having(policies, inside, l.Text("id")) {
		for _, collection := range []string{groups, pools} {
			if g, ok := c.Live.Get(collection, p.Text("appServerGroupId")+p.Text("appIpGroupId")); ok {
				add(g.Objects("members"), numberOf(p, "backendPort", 0))
			}
		}
	}
	slices.Sort(f.Targets)
	return f
}
