package lbkit

import (
	"time"

	"github.com/berth-lb/berth/test/sim/aws/network"
)

// Attacher is what a Directory may offer besides: the network interfaces of load
// balancers, which people see and which use addresses of the subnets.
type Attacher interface {
	// Attach sets the interfaces of an owner to the desired ones, one in each subnet; the ones
	// that stay keep their addresses.
	Attach(owner string, want []network.Interface)
	// Detach takes all interfaces of an owner away, after a time.
	Detach(owner string, after time.Duration)
	// InUse reports whether an address of a subnet is taken.
	InUse(subnet, ip string) bool
}

// Attach gives a load balancer its interfaces, where the network has any.
func Attach(dir network.Directory, owner string, want []network.Interface) {
	if a, ok := dir.(Attacher); ok {
		a.Attach(owner, want)
	}
}

// Detach takes the interfaces of a load balancer away, after a time.
func Detach(dir network.Directory, owner string, after time.Duration) {
	if a, ok := dir.(Attacher); ok {
		a.Detach(owner, after)
	}
}

// InUse reports whether an address of a subnet is known to be taken.
func InUse(dir network.Directory, subnet, ip string) bool {
	a, ok := dir.(Attacher)
	return ok && a.InUse(subnet, ip)
}
