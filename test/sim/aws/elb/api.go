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
	LoadBalancers int `default:"20"`   // per region
	Listeners     int `default:"100"`  // per load balancer
	Instances     int `default:"1000"` // per load balancer
	Tags          int `default:"10"`   // per load balancer
	Policies      int `default:"100"`  // per load balancer
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
	sim.Numbers(&opt.Limits)
	api := lbkit.New(dir, &opt.Options, &state{LoadBalancers: map[string]*loadBalancer{}})
	return &API{api, opt}
}

// call is one operation at work: its time, and the state under lock.
type call struct {
	*API
	now time.Time
}

func newOperations() map[string]lbkit.Op[*call] {
	return map[string]lbkit.Op[*call]{
		"AddTags":                                 lbkit.On(addTags),
		"ApplySecurityGroupsToLoadBalancer":       lbkit.On(applySecurityGroups),
		"AttachLoadBalancerToSubnets":             lbkit.On(attachSubnets),
		"ConfigureHealthCheck":                    lbkit.On(configureHealthCheck),
		"CreateLoadBalancer":                      lbkit.Plain(createLoadBalancer),
		"CreateLoadBalancerListeners":             lbkit.On(createListeners),
		"CreateLoadBalancerPolicy":                lbkit.On(createPolicy),
		"DeleteLoadBalancer":                      lbkit.Plain(deleteLoadBalancer),
		"DeleteLoadBalancerListeners":             lbkit.On(deleteListeners),
		"DeleteLoadBalancerPolicy":                lbkit.On(deletePolicy),
		"DeregisterInstancesFromLoadBalancer":     lbkit.On(deregisterInstances),
		"DescribeAccountLimits":                   lbkit.Plain(describeLimits),
		"DescribeInstanceHealth":                  lbkit.On(describeInstanceHealth),
		"DescribeLoadBalancerAttributes":          lbkit.On(describeAttributes),
		"DescribeLoadBalancerPolicies":            lbkit.Plain(describePolicies),
		"DescribeLoadBalancers":                   lbkit.Plain(describeLoadBalancers),
		"DescribeTags":                            lbkit.On(describeTags),
		"DetachLoadBalancerFromSubnets":           lbkit.On(detachSubnets),
		"ModifyLoadBalancerAttributes":            lbkit.On(modifyAttributes),
		"RegisterInstancesWithLoadBalancer":       lbkit.On(registerInstances),
		"SetLoadBalancerListenerSSLCertificate":   lbkit.On(setListenerCertificate),
		"SetLoadBalancerPoliciesForBackendServer": lbkit.On(setBackendPolicies),
		"SetLoadBalancerPoliciesOfListener":       lbkit.On(setListenerPolicies),
	}
}

// Service gives the operations for the wire.
func (a *API) Service() *query.Service {
	about := &query.Service{Name: "elb", Version: "2012-06-01", Freeze: func() *query.Service { return (&API{a.Copy(), a.opt}).Service() }}
	return lbkit.Serve(a.API, about, newOperations(), func(now time.Time) *call { return &call{a, now} })
}
