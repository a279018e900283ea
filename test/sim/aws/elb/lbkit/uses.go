package lbkit

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Holding says which network objects one load balancer occupies.
type Holding struct {
	// User names the load balancer as EC2 shows it, such as "load balancer web".
	User              string
	Groups, Addresses []string
}

type holding struct {
	Holding
	until time.Time // zero while the load balancer lives
}

// Uses records what load balancers hold. It has a lock of its own, taken last
// and never held across a call: EC2 asks while it holds its lock, and operations
// ask EC2 while they hold theirs, so one common lock would be a deadlock.
type Uses struct {
	now func() time.Time
	mu  sync.Mutex
	by  map[string]holding
}

// NewUses makes an empty record. now tells when a released holding ends.
func NewUses(now func() time.Time) *Uses {
	return &Uses{now: now, by: map[string]holding{}}
}

// Hold replaces what the load balancer with this key holds.
func (u *Uses) Hold(key string, h Holding) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.by[key] = holding{Holding: h}
}

// Release ends a holding after a time: the network interfaces of a deleted load
// balancer go minutes later, and keep their security groups until then.
func (u *Uses) Release(key string, after time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	h, ok := u.by[key]
	if !ok {
		return
	}
	if after <= 0 {
		delete(u.by, key)
		return
	}
	h.until = u.now().Add(after)
	u.by[key] = h
}

// GroupUsers lists the users of a security group.
func (u *Uses) GroupUsers(id string) []string {
	return u.users(func(h holding) bool { return slices.Contains(h.Groups, id) })
}

// AddressUsers lists the users of an elastic IP address, by allocation id.
func (u *Uses) AddressUsers(id string) []string {
	return u.users(func(h holding) bool { return slices.Contains(h.Addresses, id) })
}

func (u *Uses) users(holds func(holding) bool) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	var out []string
	for _, key := range slices.Sorted(maps.Keys(u.by)) {
		h := u.by[key]
		if !h.until.IsZero() && !now.Before(h.until) {
			delete(u.by, key)
			continue
		}
		if holds(h) {
			out = append(out, h.User)
		}
	}
	return out
}
