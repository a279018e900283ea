package baidu

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// The collections of the store.
const (
	balancers = "load_balancers"
	addresses = "eips"
	listeners = "listeners"
	policies  = "policies"
	groups    = "server_groups"
	pools     = "ip_groups"
	targets   = "group_ports"
	instances = "instances"
	subnets   = "subnets"
	tokens    = "client_tokens"
)

// Keys of objects that the API does not show: the load balancer or group of a part, the kind of a load
// balancer, and when something was created.
const (
	owner  = "~owner"
	inside = "~in"
	kindOf = "~kind"
	family = "~family"
	made   = "~made"
)

// Kinds of load balancers.
const (
	app    = "appblb"
	normal = "blb"
)

// States of load balancers and addresses.
const (
	creating  = "creating"
	updating  = "updating"
	available = "available"
	binding   = "binding"
	unbinding = "unbinding"
	bound     = "binded"
	deleting  = "deleting" // shown as updating
)

// state is everything that the cloud holds. Objects in it are never changed in place, so a copy of the
// tables is a copy of the state.
type state struct {
	rest.Tables
	count int                  // objects created so far, for identifiers
	until map[string]time.Time // when a change of a load balancer or an address ends
}

func newState() *state { return &state{Tables: rest.Tables{}, until: map[string]time.Time{}} }

func (s *state) Clone() *state {
	return &state{Tables: s.Tables.Clone(), count: s.count, until: maps.Clone(s.until)}
}

// Settle ends the changes that are due.
func (s *state) Settle(now time.Time) {
	for id, until := range s.until {
		if now.Before(until) {
			continue
		}
		delete(s.until, id)
		if lb, ok := s.Get(balancers, id); ok {
			s.endBalancer(lb)
		}
		if a, ok := s.Get(addresses, id); ok {
			s.endAddress(a)
		}
	}
}

func (s *state) endBalancer(lb rest.Object) {
	if lb.Text("status") == deleting {
		s.dropBalancer(lb.Text("id"))
		return
	}
	s.Change(balancers, lb.Text("id"), rest.Object{"status": available})
}

func (s *state) endAddress(a rest.Object) {
	next := map[string]string{creating: available, binding: bound, unbinding: available}[a.Text("status")]
	if next != "" {
		s.Change(addresses, a.Text("id"), rest.Object{"status": next})
	}
}

// dropBalancer removes a load balancer with its parts, and frees its address.
func (s *state) dropBalancer(id string) {
	for _, c := range []string{listeners, policies, groups, pools, targets} {
		for _, o := range s.Having(c, owner, id) {
			s.Drop(c, o.Text("id"))
		}
	}
	for _, a := range s.Having(addresses, "instanceId", id) {
		s.Change(addresses, a.Text("id"), rest.Object{"status": available, "instanceId": "", "instanceType": ""})
	}
	s.Drop(balancers, id)
}

// Dump returns all objects by collection for tests, without answered tokens.
func (s *state) Dump() map[string][]rest.Object {
	out := s.Tables.Dump()
	delete(out, tokens)
	return out
}

// id returns a new identifier, the same in every run that creates the same objects.
func (s *state) id(prefix string) string {
	s.count++
	return prefix + hashOf(strconv.Itoa(s.count))[:8]
}

// address returns a new address that begins with a number.
func (s *state) address(begin int) string {
	s.count++
	return fmt.Sprintf("%d.76.%d.%d", begin, s.count/250%250, s.count%250+1)
}

func hashOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}
