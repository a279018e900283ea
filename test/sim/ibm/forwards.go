package ibm

import (
	"cmp"
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

// Forward is one port that clients reach, and the machines that answer.
type Forward struct {
	Host       string
	Public     bool
	First      int // of the range of ports
	Last       int
	Protocol   string // tcp or udp
	Machines   []string
	MemberPort int // 0 of a range: the port that the client used
}

// Forwards returns what the load balancers pass on: every listener that has a pool with
// members. A load balancer that is being created passes nothing on.
func (c *Cloud) Forwards() []Forward {
	var out []Forward
	c.Locked(func() {
		c.Live.Settle(c.Clock.Now())
		for _, lb := range c.Live.All(balancers, func(o rest.Object) bool { return o.Text(operating) == "online" }) {
			out = append(out, c.forwardsOf(lb)...)
		}
	})
	slices.SortFunc(out, func(a, b Forward) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.First, b.First)) })
	return out
}

func (c *Cloud) forwardsOf(lb rest.Object) []Forward {
	var out []Forward
	for _, l := range c.Live.Having(listeners, owner, lb.Text("id")) {
		f := Forward{Host: lb.Text("hostname"), Public: lb.Truth("is_public"), Protocol: l.Text("protocol")}
		f.First, _ = l.Number("port_min")
		f.Last, _ = l.Number("port_max")
		for _, m := range c.Live.Having(members, owner, l.Text("pool")) {
			f.MemberPort, _ = m.Number("port")
			target := m.Object("target")
			f.Machines = append(f.Machines, cmp.Or(target.Text("address"), target.Text("id")))
		}
		if f.First != f.Last {
			f.MemberPort = 0
		}
		slices.Sort(f.Machines)
		if len(f.Machines) > 0 {
			out = append(out, f)
		}
	}
	return out
}
