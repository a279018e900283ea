package elb

import (
	"encoding/json"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/network"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// Limits are the quotas of an account. Zero means the default, negative none allowed.
type Limits struct {
	LoadBalancers int // per region, default 20
	Listeners     int // per load balancer, default 100
	Instances     int // per load balancer, default 1000
	Tags          int // per load balancer, default 10
	Policies      int // per load balancer, default 100
}

// Options configure the simulator. The zero value is us-east-1 without delays.
type Options struct {
	// Region is the region of names and zones, default us-east-1.
	Region string
	// Account is the twelve digit account, default 000000000000.
	Account string
	// Clock tells when delays end, default the real clock.
	Clock  clock.PassiveClock
	Limits Limits
	// ReleaseDelay is how long a deleted load balancer keeps its groups and subnets in use.
	ReleaseDelay time.Duration
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
	l := &opt.Limits
	for _, d := range []struct {
		at    *int
		value int
	}{{&l.LoadBalancers, 20}, {&l.Listeners, 100}, {&l.Instances, 1000}, {&l.Tags, 10}, {&l.Policies, 100}} {
		if *d.at == 0 {
			*d.at = d.value
		}
	}
	return &API{dir: dir, opt: opt, uses: lbkit.NewUses(opt.Clock.Now), state: &state{LoadBalancers: map[string]*loadBalancer{}}}
}

// call is one operation at work: its parameters, its time, and the state under lock.
type call struct {
	*lbkit.Reader
	*API
	now time.Time
}

type operation struct {
	write bool
	run   func(*call) (any, error)
}

func operations() map[string]operation {
	return map[string]operation{
		"AddTags":                                 {true, addTags},
		"ApplySecurityGroupsToLoadBalancer":       {true, applySecurityGroups},
		"AttachLoadBalancerToSubnets":             {true, attachSubnets},
		"ConfigureHealthCheck":                    {true, configureHealthCheck},
		"CreateLoadBalancer":                      {true, createLoadBalancer},
		"CreateLoadBalancerListeners":             {true, createListeners},
		"CreateLoadBalancerPolicy":                {true, createPolicy},
		"DeleteLoadBalancer":                      {true, deleteLoadBalancer},
		"DeleteLoadBalancerListeners":             {true, deleteListeners},
		"DeleteLoadBalancerPolicy":                {true, deletePolicy},
		"DeregisterInstancesFromLoadBalancer":     {true, deregisterInstances},
		"DescribeAccountLimits":                   {false, describeLimits},
		"DescribeInstanceHealth":                  {false, describeInstanceHealth},
		"DescribeLoadBalancerAttributes":          {false, describeAttributes},
		"DescribeLoadBalancerPolicies":            {false, describePolicies},
		"DescribeLoadBalancers":                   {false, describeLoadBalancers},
		"DescribeTags":                            {false, describeTags},
		"DetachLoadBalancerFromSubnets":           {true, detachSubnets},
		"ModifyLoadBalancerAttributes":            {true, modifyAttributes},
		"RegisterInstancesWithLoadBalancer":       {true, registerInstances},
		"SetLoadBalancerListenerSSLCertificate":   {true, setListenerCertificate},
		"SetLoadBalancerPoliciesForBackendServer": {true, setBackendPolicies},
		"SetLoadBalancerPoliciesOfListener":       {true, setListenerPolicies},
	}
}

// Service gives the operations for the wire.
func (a *API) Service() *query.Service {
	ops := operations()
	s := &query.Service{
		Name:      "elb",
		Version:   "2012-06-01",
		Namespace: "http://elasticloadbalancing.amazonaws.com/doc/2012-06-01/",
		Style:     query.AWSQuery,
		Ops:       make(map[string]query.Op, len(ops)),
		Writes:    func(action string) bool { return ops[action].write },
		Freeze:    a.freeze,
	}
	for name, op := range ops {
		s.Ops[name] = func(req *query.Request) (any, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
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

// AddressUsers is always empty: classic load balancers take no elastic IP address.
func (a *API) AddressUsers(id string) []string { return a.uses.AddressUsers(id) }

// clone copies the state through JSON; all of it is exported fields of plain values.
func (s *state) clone() *state {
	out := &state{}
	raw, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil || out.LoadBalancers == nil {
		out.LoadBalancers = map[string]*loadBalancer{}
	}
	return out
}
