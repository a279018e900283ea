package elb

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/network"
)

// Paths lists the registered instances of all listeners, by load balancer, port and instance.
// The health of instances is left out.
func (a *API) Paths() []network.Path {
	var out []network.Path
	a.Locked(func() {
		for _, lb := range a.State.LoadBalancers {
			for _, l := range lb.Listeners {
				for _, i := range lb.Instances {
					out = append(out, network.Path{Balancer: lb.Name, Owner: lb.key(), Groups: lb.Groups, Protocol: "TCP", Port: l.Port, Target: i.ID, TargetPort: l.InstancePort})
				}
			}
		}
	})
	slices.SortFunc(out, network.ComparePaths)
	return out
}
