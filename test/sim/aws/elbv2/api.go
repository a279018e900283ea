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
// Source of the defaults: "quotas" pages of the load balancer guides.
type Limits struct {
	NetworkLoadBalancers   int `default:"50"`   // per region
	TargetGroups           int `default:"3000"` // per region
	Listeners              int `default:"50"`   // per load balancer
	Certificates           int `default:"25"`   // per load balancer beside the default ones
	TargetsPerGroup        int `default:"1000"`
	TargetsPerZone         int `default:"500"`  // per network load balancer
	TargetsPerLoadBalancer int `default:"3000"` // per network load balancer
	TargetsCrossZone       int `default:"500"`  // per network load balancer with cross-zone balancing on
	GroupsPerAction        int `default:"5"`    // target groups of one forward action
	Interfaces             int `default:"1200"` // interfaces of network load balancers in a VPC
	Tags                   int `default:"50"`   // per resource
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
	sim.Numbers(&opt.Limits)
	api := lbkit.New(dir, &opt.Options, newState())
	return &API{api, opt}
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
