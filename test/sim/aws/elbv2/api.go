package elbv2

import (
	"strconv"
	"time"

	"github.com/berth-lb/berth/test/sim"
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
	// GroupRelease is how long a target group cannot be deleted after the last listener has
	// left it: the official controller retries ResourceInUse for 20 s.
	// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/deploy/elbv2/target_group_manager.go.
	GroupRelease time.Duration
}

// Options configure the simulator. The zero value is us-east-1 without delays.
type Options struct {
	lbkit.Options
	Limits Limits
	Delays Delays
}

// API is the simulated service. It is safe for concurrent use.
type API struct {
	*lbkit.API[state]
	opt Options
}

// New makes the service of an empty account, on the networks of dir.
func New(dir network.Directory, opt Options) *API {
	opt.Limits.fill()
	api := lbkit.New(dir, &opt.Options, newState())
	return &API{api, opt}
}

// fill sets the default quotas; source: "quotas" pages of the load balancer guides.
func (l *Limits) fill() {
	sim.Default(&l.NetworkLoadBalancers, 50)
	sim.Default(&l.TargetGroups, 3000)
	sim.Default(&l.Listeners, 50)
	sim.Default(&l.Certificates, 25)
	sim.Default(&l.TargetsPerGroup, 1000)
	sim.Default(&l.TargetsPerZone, 500)
	sim.Default(&l.TargetsPerLoadBalancer, 3000)
	sim.Default(&l.TargetsCrossZone, 500)
	sim.Default(&l.GroupsPerAction, 5)
	sim.Default(&l.Interfaces, 1200)
	sim.Default(&l.Tags, 50)
}

// call is one operation at work: its time, and the state under lock.
type call struct {
	*API
	now time.Time
}

// Service gives the operations for the wire.
func (a *API) Service() *query.Service {
	about := &query.Service{Name: "elbv2", Version: "2015-12-01", Freeze: func() *query.Service { return (&API{a.Copy(), a.opt}).Service() }}
	return lbkit.Serve(a.API, about, newOperations(), func(now time.Time) *call {
		a.State.sweep(now)
		return &call{a, now}
	})
}

// arn makes the ARN of a resource of this service.
func (a *API) arn(resource string) string {
	return "arn:" + lbkit.Partition(a.opt.Region) + ":elasticloadbalancing:" + a.opt.Region + ":" + a.opt.Account + ":" + resource
}

// next gives a sequence number and 16 hexadecimal digits derived from it, which
// are unique in this account and the same in every run.
func (a *API) next(kind string) (seq int, id string) {
	a.State.Seq++
	return a.State.Seq, lbkit.Hex(16, a.opt.Account, a.opt.Region, kind, strconv.Itoa(a.State.Seq))
}

// sortKey returns a sort key for listings by age.
func sortKey(n int) string { return strconv.Itoa(1_000_000_000 + n) }
