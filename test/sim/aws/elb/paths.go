package elb

import (
	"cmp"
	"slices"
)

// Path is one instance behind one port of a load balancer.
type Path struct {
	Balancer     string // name
	Owner        string // of its interfaces
	Groups       []string
	Port         int
	Instance     string
	InstancePort int
}

// Paths lists the registered instances of all listeners, by load balancer, port and instance.
// The health of instances is left out.
func (a *API) Paths() []Path {
	var out []Path
	a.Locked(func() {
		for _, lb := range a.State.LoadBalancers {
			for _, l := range lb.Listeners {
				for _, i := range lb.Instances {
					out = append(out, Path{Balancer: lb.Name, Owner: lb.key(), Groups: lb.Groups, Port: l.Port, Instance: i.ID, InstancePort: l.InstancePort})
				}
			}
		}
	})
	slices.SortFunc(out, func(x, y Path) int {
		return cmp.Or(cmp.Compare(x.Balancer, y.Balancer), cmp.Compare(x.Port, y.Port), cmp.Compare(x.Instance, y.Instance))
	})
	return out
}
