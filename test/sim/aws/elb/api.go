package elb

import (
	"time"

	"github.com/berth-lb/berth/test/sim"
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
	lbkit.Options
	Limits Limits
	// ReleaseDelay is how long a deleted load balancer keeps its groups and subnets in use.
	ReleaseDelay time.Duration
}

// API is the simulated service. It is safe for concurrent use.
type API struct {
	*lbkit.API[state]
	opt Options
}

// New makes the service of an empty account, on the networks of dir.
func New(dir network.Directory, opt Options) *API {
	l := &opt.Limits
	sim.Default(&l.LoadBalancers, 20)
	sim.Default(&l.Listeners, 100)
	sim.Default(&l.Instances, 1000)
	sim.Default(&l.Tags, 10)
	sim.Default(&l.Policies, 100)
	api := lbkit.New(dir, &opt.Options, &state{LoadBalancers: map[string]*loadBalancer{}})
	return &API{api, opt}
}

// call is one operation at work: its parameters, its time, and the state under lock.
type call struct {
	*lbkit.Reader
	*API
	now time.Time
}

func newOperations() lbkit.Operations[*call] {
	return lbkit.Operations[*call]{
		Reads: map[string]func(*call) (any, error){
			"DescribeAccountLimits":          describeLimits,
			"DescribeInstanceHealth":         describeInstanceHealth,
			"DescribeLoadBalancerAttributes": describeAttributes,
			"DescribeLoadBalancerPolicies":   describePolicies,
			"DescribeLoadBalancers":          describeLoadBalancers,
			"DescribeTags":                   describeTags,
		},
		Writes: map[string]func(*call) (any, error){
			"AddTags":                                 addTags,
			"ApplySecurityGroupsToLoadBalancer":       applySecurityGroups,
			"AttachLoadBalancerToSubnets":             attachSubnets,
			"ConfigureHealthCheck":                    configureHealthCheck,
			"CreateLoadBalancer":                      createLoadBalancer,
			"CreateLoadBalancerListeners":             createListeners,
			"CreateLoadBalancerPolicy":                createPolicy,
			"DeleteLoadBalancer":                      deleteLoadBalancer,
			"DeleteLoadBalancerListeners":             deleteListeners,
			"DeleteLoadBalancerPolicy":                deletePolicy,
			"DeregisterInstancesFromLoadBalancer":     deregisterInstances,
			"DetachLoadBalancerFromSubnets":           detachSubnets,
			"ModifyLoadBalancerAttributes":            modifyAttributes,
			"RegisterInstancesWithLoadBalancer":       registerInstances,
			"SetLoadBalancerListenerSSLCertificate":   setListenerCertificate,
			"SetLoadBalancerPoliciesForBackendServer": setBackendPolicies,
			"SetLoadBalancerPoliciesOfListener":       setListenerPolicies,
		},
	}
}

// Service gives the operations for the wire.
func (a *API) Service() *query.Service {
	about := &query.Service{Name: "elb", Version: "2012-06-01", Freeze: func() *query.Service { return (&API{a.Copy(), a.opt}).Service() }}
	return lbkit.Serve(a.API, about, newOperations(), func(r *lbkit.Reader, now time.Time) *call { return &call{r, a, now} })
}
