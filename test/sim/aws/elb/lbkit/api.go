package lbkit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
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

// Op is an operation on the parameters of a call; C is a call at work.
type Op[C any] func(C, query.Params) (any, error)

// Plain makes an operation of a function that takes the members of the request.
func Plain[C, In any](run func(C, In) (any, error)) Op[C] {
	return func(c C, p query.Params) (any, error) {
		var in In
		if err := query.Decode(p, &in); err != nil {
			return nil, err
		}
		return run(c, in)
	}
}

// Finder is the members of a request that name a resource.
type Finder[C, R any] interface{ Find(C) (R, error) }

// On makes an operation of a function that takes the resource that a request names, too. Faults
// of shape come before what does not exist.
func On[C, R any, In Finder[C, R]](run func(C, R, In) (any, error)) Op[C] {
	return Plain(func(c C, in In) (any, error) {
		found, err := in.Find(c)
		if err != nil {
			return nil, err
		}
		return run(c, found, in)
	})
}

// Serve gives the operations for the wire, by their names. begin makes the call for one of them
// at its time, under the lock.
func Serve[S, C any](a *API[S], s *query.Service, ops map[string]Op[C], begin func(time.Time) C) *query.Service {
	encoder := &query.Encoder{}
	s.Namespace = "http://elasticloadbalancing.amazonaws.com/doc/" + s.Version + "/"
	s.Style = query.AWSQuery
	s.Writes = query.NoDescription
	s.Ops = make(map[string]query.Op, len(ops))
	for name, run := range ops {
		s.Ops[name] = func(req *query.Request) (any, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			result, err := run(begin(req.Now), req.Params)
			if err != nil {
				return nil, err
			}
			return encoder.Encode(s.Style, result)
		}
	}
	return s
}

// Limits is the answer of DescribeAccountLimits.
type Limits struct{ Limits []Limit }

// Limit is a quota of the account.
type Limit struct {
	Name string
	Max  int
}

// Paging is the members that ask for one page of a listing.
type Paging struct {
	Marker   string
	PageSize int `range:"1..400"`
}

// Page cuts a page of a listing that is sorted by key; 400 unless a size is given.
func Page[T any](items []T, key func(T) string, p Paging) ([]T, string, error) {
	page, next, ok := query.Page(items, key, p.Marker, cmp.Or(p.PageSize, 400))
	if !ok {
		return nil, "", query.Errorf("ValidationError", "The marker '%s' is not valid", p.Marker)
	}
	return page, next, nil
}

// Overlay sets the fields of a record that a request gives.
func Overlay[T any](record *T, given T) {
	to, from := reflect.ValueOf(record).Elem(), reflect.ValueOf(given)
	for i := range to.NumField() {
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
}
