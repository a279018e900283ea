package openstack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// collection names all objects of one sort, as in the paths of the API.
type collection = string

const (
	balancers  collection = "loadbalancers"
	listeners  collection = "listeners"
	pools      collection = "pools"
	members    collection = "members"
	monitors   collection = "healthmonitors"
	flavors    collection = "flavors"
	zones      collection = "availability_zones"
	networks   collection = "networks"
	subnets    collection = "subnets"
	ports      collection = "ports"
	floating   collection = "floatingips"
	groups     collection = "security-groups"
	rules      collection = "security-group-rules"
	containers collection = "containers"
	secrets    collection = "secrets"
	servers    collection = "servers"
)

// state is everything that the cloud holds. Objects in it are never changed in place,
// so a copy of the tables is a copy of the state.
type state struct {
	rest.Tables
	made int                  // objects made so far, for identifiers and addresses
	busy map[string]time.Time // load balancers that are PENDING, until when
	fail map[string]bool      // those of them that end in ERROR
	part map[string]bool      // those of them whose changed parts end in ERROR
}

func newState() *state {
	return &state{Tables: rest.Tables{}, busy: map[string]time.Time{}, fail: map[string]bool{}, part: map[string]bool{}}
}

func (s *state) Clone() *state {
	return &state{Tables: s.Tables.Clone(), made: s.made, busy: maps.Clone(s.busy), fail: maps.Clone(s.fail), part: maps.Clone(s.part)}
}

// id is a new identifier, the same in every run that makes the same things.
func (s *state) id(c collection) string {
	s.made++
	return idOf(fmt.Sprintf("%s %d", c, s.made))
}

// idOf is an identifier in the form of a UUID.
func idOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// Object is a JSON document. One that is in the store is never changed, only replaced.
type Object = rest.Object

// idRefs returns references as answers have them: a list of objects with an id.
func idRefs(of []string) []any {
	out := []any{}
	for _, id := range of {
		out = append(out, Object{"id": id})
	}
	return out
}
