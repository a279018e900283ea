package elbv2

import (
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/network"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// Limits are the quotas of an account. Zero means the default, negative none allowed.
type Limits struct {
	NetworkLoadBalancers   int // per region, default 50
	TargetGroups           int // per region, default 3000
	Listeners              int // per load balancer, default 50
	Certificates           int // per load balancer beside the default ones, default 25
	TargetsPerGroup        int // default 1000
	TargetsPerZone         int // per network load balancer, default 500
	TargetsPerLoadBalancer int // per network load balancer, default 3000
	TargetsCrossZone       int // per network load balancer with cross-zone balancing on, default 500
	GroupsPerAction        int // target groups of one forward action, default 5
	Interfaces             int // interfaces of network load balancers in a VPC, default 1200
	Tags                   int // per resource, default 50
}

// Delays say how long the asynchronous states last. Zero ends them at once.
type Delays struct {
	// Provisioning is the time from creation until a load balancer is active.
	Provisioning time.Duration
	// Healthy is the time from registration, or from the group's first use, until a target is healthy.
	Healthy time.Duration
	// Draining is how long a deregistered target is shown as draining.
	Draining time.Duration
	// Release is how long a deleted load balancer keeps its groups, subnets and addresses in use.
	Release time.Duration
	// GroupRelease is how long a target group cannot be deleted after the last listener
	// has left it: the official controller goes on for 20 s while it is told ResourceInUse.
	// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/deploy/elbv2/target_group_manager.go.
	GroupRelease time.Duration
}

// Options configure the simulator. The zero value is us-east-1 without delays.
type Options struct {
	// Region is the region of names and ARNs, default us-east-1.
	Region string
	// Account is the twelve digit account, default 000000000000.
	Account string
	// Clock tells when delays end, default the real clock.
	Clock  clock.PassiveClock
	Limits Limits
	Delays Delays
	// Certificates are the only certificate ARNs accepted. Nil accepts any well-formed one.
	Certificates []string
}

// API is the simulated service. It is safe for concurrent use.
type API struct {
	dir  network.Directory
	opt  Options
	uses *lbkit.Uses

	mu    sync.Mutex
	state *state
}

// New makes the service of an empty account, on the networks of dir.
func New(dir network.Directory, opt Options) *API {
	if opt.Region == "" {
		opt.Region = "us-east-1"
	}
	if opt.Account == "" {
		opt.Account = "000000000000"
	}
	if opt.Clock == nil {
		opt.Clock = clock.RealClock{}
	}
	opt.Limits.fill()
	return &API{dir: dir, opt: opt, uses: lbkit.NewUses(opt.Clock.Now), state: newState()}
}

// fill sets the default quotas; source: "quotas" pages of the load balancer guides.
func (l *Limits) fill() {
	for _, d := range []struct {
		at    *int
		value int
	}{
		{&l.NetworkLoadBalancers, 50}, {&l.TargetGroups, 3000}, {&l.Listeners, 50},
		{&l.Certificates, 25}, {&l.TargetsPerGroup, 1000}, {&l.TargetsPerZone, 500},
		{&l.TargetsPerLoadBalancer, 3000}, {&l.TargetsCrossZone, 500}, {&l.GroupsPerAction, 5},
		{&l.Interfaces, 1200}, {&l.Tags, 50},
	} {
		if *d.at == 0 {
			*d.at = d.value
		}
	}
}

// call is one operation at work: its parameters, its time, and the state under lock.
type call struct {
	*lbkit.Reader
	*API
	now time.Time
}

// Service gives the operations for the wire.
func (a *API) Service() *query.Service {
	ops := operations()
	s := &query.Service{
		Name:      "elbv2",
		Version:   "2015-12-01",
		Namespace: "http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/",
		Style:     query.AWSQuery,
		Ops:       make(map[string]query.Op, len(ops)),
		Writes:    func(action string) bool { return ops[action].write },
		Freeze:    a.freeze,
	}
	for name, op := range ops {
		s.Ops[name] = func(req *query.Request) (any, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.state.sweep(req.Now)
			result, err := op.run(&call{Reader: lbkit.Read(req.Params), API: a, now: req.Now})
			if err != nil {
				return nil, err
			}
			return lbkit.Render(result)
		}
	}
	return s
}

func (a *API) freeze() *query.Service {
	a.mu.Lock()
	defer a.mu.Unlock()
	return (&API{dir: a.dir, opt: a.opt, uses: lbkit.NewUses(a.opt.Clock.Now), state: a.state.clone()}).Service()
}

// Snapshot gives a copy of everything, to be written as JSON.
func (a *API) Snapshot() any {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.clone()
}

// GroupUsers lists the load balancers that use a security group.
func (a *API) GroupUsers(id string) []string { return a.uses.GroupUsers(id) }

// AddressUsers lists the load balancers that use an elastic IP address, by allocation id.
func (a *API) AddressUsers(id string) []string { return a.uses.AddressUsers(id) }

// clone copies the state through JSON; all of it is exported fields of plain values.
func (s *state) clone() *state {
	out := newState()
	raw, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		return newState()
	}
	return out
}

// arn makes the ARN of a resource of this service.
func (a *API) arn(resource string) string {
	return "arn:" + lbkit.Partition(a.opt.Region) + ":elasticloadbalancing:" + a.opt.Region + ":" + a.opt.Account + ":" + resource
}

// next gives a sequence number and 16 hexadecimal digits derived from it, which
// are unique in this account and the same in every run.
func (a *API) next(kind string) (seq int, id string) {
	a.state.Seq++
	return a.state.Seq, lbkit.Hex(16, a.opt.Account, a.opt.Region, kind, strconv.Itoa(a.state.Seq))
}

// sequence is a sort key for listings by age.
func sequence(n int) string { return strconv.Itoa(1_000_000_000 + n) }
