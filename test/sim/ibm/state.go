package ibm

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
	balancers      = "load_balancers"
	listeners      = "listeners"
	pools          = "pools"
	members        = "members"
	subnets        = "subnets"
	vpcs           = "vpcs"
	groups         = "security_groups"
	rules          = "security_group_rules"
	instances      = "instances"
	resourceGroups = "resource_groups"
)

// Keys of objects that the API does not show: what a listener, pool or member is in, the
// version of a load balancer, and the number from which its addresses follow.
const (
	owner   = "~owner"
	version = "~version"
	placed  = "~placed"
)

// timeForm is the form of times. Source: VPC API reference.
const timeForm = "2006-01-02T15:04:05.000Z"

// The states of load balancers. Source: VPC API reference, LoadBalancer.
const (
	provisioning = "provisioning_status"
	operating    = "operating_status"

	createPending = "create_pending"
	updatePending = "update_pending"
	deletePending = "delete_pending"
	active        = "active"
	failed        = "failed"
)

// state is everything that the cloud holds. Objects in it are never changed in place, so a
// copy of the tables is a copy of the state.
type state struct {
	rest.Tables
	made  int                  // objects created so far, for identifiers
	until map[string]time.Time // when a load balancer is not busy any more
}

func newState() *state { return &state{Tables: rest.Tables{}, until: map[string]time.Time{}} }

func (s *state) Clone() *state {
	return &state{Tables: s.Tables.Clone(), made: s.made, until: maps.Clone(s.until)}
}

// Settle ends the changes that are due. A deleted load balancer takes its parts with it.
func (s *state) Settle(now time.Time) {
	for id, until := range s.until {
		if now.Before(until) {
			continue
		}
		delete(s.until, id)
		lb, ok := s.Get(balancers, id)
		switch {
		case !ok:
		case lb.Text(provisioning) == deletePending:
			s.dropBalancer(id)
		default:
			s.Put(balancers, s.online(lb))
		}
	}
}

func (s *state) dropBalancer(id string) {
	for _, pool := range s.Having(pools, owner, id) {
		s.dropPool(pool.Text("id"))
	}
	for _, l := range s.Having(listeners, owner, id) {
		s.Drop(listeners, l.Text("id"))
	}
	s.Drop(balancers, id)
}

func (s *state) dropPool(id string) {
	for _, m := range s.Having(members, owner, id) {
		s.Drop(members, m.Text("id"))
	}
	s.Drop(pools, id)
}

// Dump returns all objects by collection, without empty collections, for tests.
func (s *state) Dump() map[string][]rest.Object {
	out := map[string][]rest.Object{}
	for c := range s.Tables {
		if all := s.All(c, nil); len(all) > 0 {
			out[c] = all
		}
	}
	return out
}

// id returns a new identifier, the same in every run that creates the same objects.
// Source: VPC API reference: <generation>-<UUID>.
func (s *state) id() string {
	s.made++
	return idOf(strconv.Itoa(s.made))
}

func idOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	h := hex.EncodeToString(sum[:16])
	return fmt.Sprintf("r010-%s-%s-%s-%s-%s", h[:8], h[8:12], h[12:16], h[16:20], h[20:])
}
