package ec2

import (
	"maps"
	"slices"
	"time"

	"github.com/berth-lb/berth/test/sim/aws/network"
)

// managedBy is the owner of interfaces that belong to load balancers.
// Source: Elastic Load Balancing and EC2 user guides, requester-managed network interfaces.
const managedBy = "amazon-elb"

// requester returns the creator of an interface: for one of the account, the id of its user.
func (i Interface) requester() string {
	if i.managed() {
		return managedBy
	}
	return "AIDASIMULATORSIMULATO"
}

// Attach sets the interfaces of a load balancer to the desired ones.
func (a *API) Attach(owner string, want []network.Interface) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.leaving, owner)
	have := map[string]Interface{}
	for _, i := range a.st.interfaces {
		if i.Owner == owner {
			have[i.Subnet] = i
			delete(a.st.interfaces, i.ID)
		}
	}
	for _, w := range want {
		i, ok := have[w.Subnet]
		if !ok {
			i, ok = a.st.forLoadBalancer(w, a.opt.Clock.Now())
		}
		if ok {
			i.Owner, i.Groups = owner, slices.Clone(w.Groups)
			a.st.interfaces[i.ID] = i
		}
	}
}

// forLoadBalancer makes an interface in a subnet. There is none without a free
// address; the load balancer was checked for that before.
func (s *state) forLoadBalancer(w network.Interface, now time.Time) (Interface, bool) {
	subnet, ok := s.subnets[w.Subnet]
	if !ok {
		return Interface{}, false
	}
	free, ip := s.allocator(subnet), w.PrivateIP
	if ip == "" {
		ip, ok = free.take()
	} else {
		ok = free.claim(ip)
	}
	if !ok {
		return Interface{}, false
	}
	i := newInterface(s, subnet, nil, ip)
	i.Description, i.Kind, i.Attached = w.Description, w.Type, now
	return i, true
}

// Detach takes the interfaces of a load balancer away, after a time.
func (a *API) Detach(owner string, after time.Duration) {
	a.mu.Lock()
	a.leaving[owner] = a.opt.Clock.Now().Add(after)
	a.mu.Unlock()
	a.expire()
}

// InUse reports whether an address of a subnet is taken.
func (a *API) InUse(subnet, ip string) bool {
	a.expire()
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.st.usedIPs(subnet)[ip]
}

// expire drops the interfaces whose time is over. Every call begins with it.
func (a *API) expire() {
	now := a.opt.Clock.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	for owner, until := range a.leaving {
		if now.Before(until) {
			continue
		}
		maps.DeleteFunc(a.st.interfaces, func(_ string, i Interface) bool { return i.Owner == owner })
		delete(a.leaving, owner)
	}
}

func (i Interface) attachment() string {
	if i.Owner != "" {
		return ID("ela-attach", i.ID)
	}
	return ID("eni-attach", i.ID+"/"+i.Instance)
}

func (i Interface) managed() bool { return i.Owner != "" }

func (i Interface) kind() string {
	if i.Kind == "" {
		return "interface"
	}
	return i.Kind
}

func (i Interface) status() string {
	if i.Instance != "" || i.managed() {
		return "in-use"
	}
	return "available"
}
