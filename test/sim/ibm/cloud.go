package ibm

import (
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/rest"
)

// The APIs, as the journal names them.
const (
	apiVPC       = "vpc"
	apiIAM       = "iam"
	apiResources = "resource-controller"
	apiMetadata  = "metadata"
)

// Options configures the cloud. The zero value is an account in eu-de with the default seed
// without nodes, whose load balancers are never busy.
type Options struct {
	Region string
	Clock  clock.PassiveClock
	Seed   SeedOptions
	// Busy is how long a load balancer is busy after a write.
	Busy time.Duration
	// Create is how long a new load balancer is busy; 0: as long as after any write.
	Create time.Duration
	// Page is how many objects are on a page if the caller does not say it; 0 is 50.
	Page int
	// RequireToken refuses calls without a token of IAM.
	RequireToken bool
	Limits       Limits
}

// DefaultLoadBalancers is the quota of load balancers of each family in a new account.
// Source: ibm-cloud-docs/vpc, quotas.md.
const DefaultLoadBalancers = 50

// Limits are quotas of a region. Source: ibm-cloud-docs/vpc, quotas.md.
type Limits struct {
	LoadBalancers int // of each family; default DefaultLoadBalancers
	Listeners     int // of a load balancer; default 10
	Pools         int // of a load balancer; default 10
	Members       int // of a pool; default 50
	Subnets       int // of an application load balancer; default 15
}

func (l Limits) withDefaults() Limits {
	sim.Default(&l.LoadBalancers, DefaultLoadBalancers)
	sim.Default(&l.Listeners, 10)
	sim.Default(&l.Pools, 10)
	sim.Default(&l.Members, 50)
	sim.Default(&l.Subnets, 15)
	return l
}

// Cloud is the simulated cloud. It is safe for concurrent use.
type Cloud struct {
	*rest.Server[*state, *visit]
	Seed Seed

	opt Options
	key atomic.Value // the API key of the account, a string

	judged  bool           // whether calls need roles
	granted map[string]int // ranks of roles, by what they are on
}

// New creates a cloud and seeds it. The error reports options that contradict each other.
func New(opt Options) (*Cloud, error) {
	sim.Default(&opt.Region, "eu-de")
	sim.RealClock(&opt.Clock)
	sim.Default(&opt.Page, 50)
	sim.Default(&opt.Create, opt.Busy)
	opt.Limits = opt.Limits.withDefaults()
	c := &Cloud{opt: opt}
	c.key.Store(apiKey)
	c.Server = rest.Open(opt.Clock, newState(), apiWords(), allRoutes(), func(v rest.Visit[*state]) *visit { return &visit{Visit: v, cloud: c} })
	c.Rates = RealThrottle()
	seed, err := plantSeed(c.Live, opt)
	c.Seed = seed
	return c, err
}

// RealThrottle returns rates for tests. IBM publishes none for the VPC API, only that it
// answers 429 beyond them.
func RealThrottle() []sim.Bucket {
	return []sim.Bucket{
		{Name: "vpc reads", Service: apiVPC, Operations: []string{"get_*", "list_*"}, Capacity: 40, Refill: 20},
		{Name: "vpc writes", Service: apiVPC, Capacity: 20, Refill: 10},
	}
}
