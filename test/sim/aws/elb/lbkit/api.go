package lbkit

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/aws/network"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// Options are what both services are configured with.
type Options struct {
	// Region is the region of names and zones, default us-east-1.
	Region string
	// Account is the twelve digit account, default 000000000000.
	Account string
	// Clock tells when delays end, default the real clock.
	Clock clock.PassiveClock
	// Certificates are the ARNs of the existing certificates.
	Certificates []string
}

// HasCertificate reports whether a certificate of this ARN exists.
func (o Options) HasCertificate(arn string) bool { return slices.Contains(o.Certificates, arn) }

// API is a service of an account on the networks of Dir. Its state, S, is a struct of
// exported fields; operations access it under the lock. The embedded Uses returns the holders
// of a group or an address.
type API[S any] struct {
	*Uses
	Dir   network.Directory
	State *S

	mu    sync.Mutex
	clock clock.PassiveClock
}

// New makes the service of an account that has what state says, after it has put
// the defaults into the options.
func New[S any](dir network.Directory, opt *Options, state *S) *API[S] {
	sim.Default(&opt.Region, "us-east-1")
	sim.Default(&opt.Account, "000000000000")
	sim.RealClock(&opt.Clock)
	return &API[S]{Uses: NewUses(opt.Clock.Now), Dir: dir, State: state, clock: opt.Clock}
}

// Locked does something while no operation runs.
func (a *API[S]) Locked(do func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	do()
}

// Copy is the service as it is now, in which nothing changes any more. It copies
// through JSON; a state that does not survive that is a mistake of its type.
func (a *API[S]) Copy() *API[S] {
	out := &API[S]{Uses: NewUses(a.clock.Now), Dir: a.Dir, State: new(S), clock: a.clock}
	a.Locked(func() {
		raw, err := json.Marshal(a.State)
		if err == nil {
			err = json.Unmarshal(raw, out.State)
		}
		if err != nil {
			panic(fmt.Sprintf("copy of %T: %v", a.State, err))
		}
	})
	return out
}

// Snapshot gives a copy of everything, to be written as JSON.
func (a *API[S]) Snapshot() any { return a.Copy().State }

// Operations are those of a service, by their names; C is a call at work.
type Operations[C any] struct {
	Reads, Writes map[string]func(C) (any, error)
}

// Serve gives the operations for the wire. begin makes the call for one of them
// from its parameters and its time, under the lock.
func Serve[S, C any](a *API[S], s *query.Service, ops Operations[C], begin func(*Reader, time.Time) C) *query.Service {
	encoder := &query.Encoder{}
	s.Namespace = "http://elasticloadbalancing.amazonaws.com/doc/" + s.Version + "/"
	s.Style = query.AWSQuery
	s.Writes = func(action string) bool { return ops.Writes[action] != nil }
	s.Ops = make(map[string]query.Op, len(ops.Reads)+len(ops.Writes))
	for _, all := range []map[string]func(C) (any, error){ops.Reads, ops.Writes} {
		for name, run := range all {
			s.Ops[name] = func(req *query.Request) (any, error) {
				a.mu.Lock()
				defer a.mu.Unlock()
				result, err := run(begin(Read(req.Params), req.Now))
				if err != nil {
					return nil, err
				}
				return encoder.Encode(result)
			}
		}
	}
	return s
}

// Limits is the answer of DescribeAccountLimits.
type Limits struct{ Limits query.Members[Limit] }

// Limit is a quota of the account.
type Limit struct {
	Name string
	Max  int
}

// LimitsOf answers the quotas of an account.
func LimitsOf(all ...Limit) Limits { return Limits{query.Members[Limit]{Member: all}} }
