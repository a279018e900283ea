package tencent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// The collections of the store.
const (
	balancers    = "load_balancers"
	listeners    = "listeners"
	rules        = "rules"
	instances    = "instances"
	subnets      = "subnets"
	groups       = "security_groups"
	certificates = "certificates"
	tokens       = "client_tokens"
)

// owner is the key of the load balancer of a part.
const owner = "LoadBalancerId"

// state is everything that the cloud holds. Objects in it are never changed in place, so a copy of
// the tables is a copy of the state.
type state struct {
	rest.Tables
	made    int // objects created so far, for identifiers
	calls   int // answered so far
	tasks   map[string]task
	deleted map[string][]time.Time // of load balancers, lately, by region
}

// task is one write on its way.
type task struct {
	balancer string
	until    time.Time
	running  bool
	failed   bool
	ends     string // what becomes of the load balancer then: created, deleted or nothing
}

func newState() *state {
	return &state{Tables: rest.Tables{}, tasks: map[string]task{}, deleted: map[string][]time.Time{}}
}

func (s *state) Clone() *state {
	return &state{Tables: s.Tables.Clone(), made: s.made, calls: s.calls, tasks: maps.Clone(s.tasks), deleted: maps.Clone(s.deleted)}
}

// Settle ends the tasks that are due.
func (s *state) Settle(now time.Time) {
	for _, id := range slices.Sorted(maps.Keys(s.tasks)) {
		t := s.tasks[id]
		if !t.running || now.Before(t.until) {
			continue
		}
		t.running = false
		s.tasks[id] = t
		switch lb, ok := s.Get(balancers, t.balancer); {
		case !ok || t.failed:
		case t.ends == "created":
			s.Put(balancers, lb.With(lb.Object("later")).With(rest.Object{"Status": 1}).Without("later"))
		case t.ends == "deleted":
			s.dropBalancer(t.balancer)
		}
	}
}

func (s *state) dropBalancer(id string) {
	for _, c := range []string{listeners, rules} {
		for _, o := range s.Having(c, owner, id) {
			s.Drop(c, o.Text("id"))
		}
	}
	s.Drop(balancers, id)
}

// isBusy reports whether a task of a load balancer runs.
func (s *state) isBusy(balancer string) bool {
	for _, t := range s.tasks {
		if t.balancer == balancer && t.running {
			return true
		}
	}
	return false
}

// Dump returns all objects by collection for tests, without answered tokens.
func (s *state) Dump() map[string][]rest.Object {
	out := s.Tables.Dump()
	delete(out, tokens)
	return out
}

// id returns a new identifier, the same in every run that creates the same objects.
func (s *state) id(prefix string) string {
	s.made++
	return prefix + hashOf(strconv.Itoa(s.made))[:8]
}

// requestID returns the identifier of a call.
func (s *state) requestID() string {
	s.calls++
	h := hashOf("request " + strconv.Itoa(s.calls))
	return fmt.Sprintf("%s-%s-%s-%s-%s", h[:8], h[8:12], h[12:16], h[16:20], h[20:32])
}

func hashOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}
