package alibaba

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strconv"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// The collections of the store.
const (
	balancers    = "load_balancers"
	listeners    = "listeners"
	groups       = "vserver_groups"
	instances    = "instances"
	vswitches    = "vswitches"
	certificates = "server_certificates"
	lists        = "access_control_lists"
	domains      = "domain_extensions"
	addresses    = "elastic_ips"
	interfaces   = "network_interfaces"
	sessions     = "sessions"
	tokens       = "client_tokens"

	nets           = "network_load_balancers"
	netListeners   = "network_listeners"
	serverGroups   = "server_groups"
	securityGroups = "security_groups"
)

// owner is the key of the load balancer of a part, which lists do not show.
const owner = "LoadBalancerId"

// state is everything that the cloud holds. Objects in it are never changed in place, so a copy of
// the tables is a copy of the state.
type state struct {
	rest.Tables
	made  int                  // objects created so far, for identifiers
	until map[string]time.Time // when a load balancer is not busy any more
	jobs  map[string]job       // of the NLB API
	ended map[string]string    // how jobs have ended
}

func newState() *state {
	return &state{Tables: rest.Tables{}, until: map[string]time.Time{}, jobs: map[string]job{}, ended: map[string]string{}}
}

func (s *state) Clone() *state {
	return &state{Tables: s.Tables.Clone(), made: s.made, until: maps.Clone(s.until), jobs: maps.Clone(s.jobs), ended: maps.Clone(s.ended)}
}

// Settle ends the changes that are due.
func (s *state) Settle(now time.Time) {
	maps.DeleteFunc(s.until, func(_ string, until time.Time) bool { return !now.Before(until) })
	s.endJobs(now)
}

// Dump returns all objects by collection for tests, without answered tokens and temporary credentials.
func (s *state) Dump() map[string][]rest.Object {
	out := s.Tables.Dump()
	delete(out, tokens)
	delete(out, sessions)
	return out
}

// id returns a new identifier, the same in every run that creates the same objects.
func (s *state) id(prefix string) string {
	s.made++
	return prefix + hashOf(strconv.Itoa(s.made))[:18]
}

func hashOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}
