package openstack

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/rest"
)

// The APIs, as the journal and the paths name them.
const (
	apiKeystone = "identity"
	apiOctavia  = "load-balancer"
	apiNeutron  = "network"
	apiBarbican = "key-manager"
	apiNova     = "compute"
)

// Limits are the quotas of the project; 0: none.
type Limits struct {
	LoadBalancers, Listeners, Pools, Members, FloatingIPs, SecurityGroups, SecurityGroupRules int
}

// Options configures the cloud. The zero value is the project berth in RegionOne, the
// default seed without nodes, and load balancers that are busy for no time.
type Options struct {
	Region  string
	Project string
	Clock   clock.PassiveClock
	Seed    SeedOptions
	// Busy is how long a load balancer is PENDING after a change.
	Busy time.Duration
	// Breaks is a part of the names of load balancers that end in ERROR after every
	// change but deletion; empty: none do.
	Breaks string
	// TokenAge is how long a token is good; 0 is an hour.
	TokenAge time.Duration
	// Version is the newest minor version of the load balancer API; 0 is 26.
	Version int
	// Providers are the enabled drivers; empty: amphora, octavia and ovn.
	Providers []string
	// Administrator gives the user the role that may fail load balancers over.
	Administrator bool
	// NoKeyManager leaves Barbican out of the catalog.
	NoKeyManager bool
	// AnyAddress lets the project choose the addresses of its floating IPs, which by
	// default only an administrator may. Source: Neutron's default policies.
	AnyAddress bool
	Limits     Limits
}

// Cloud is the simulated cloud. It is safe for concurrent use.
type Cloud struct {
	*rest.Server[*state, *visit]
	Seed Seed

	opt Options

	// Behind the lock:
	tokens map[string]time.Time // until when
	access []accessRule
	judged bool // by the access rules
}

// New makes a cloud and seeds it. The error tells of options that do not fit together.
func New(opt Options) (*Cloud, error) {
	sim.Default(&opt.Region, "RegionOne")
	sim.Default(&opt.Project, "berth")
	sim.RealClock(&opt.Clock)
	sim.Default(&opt.TokenAge, time.Hour)
	sim.Default(&opt.Version, 26)
	if len(opt.Providers) == 0 {
		opt.Providers = []string{"amphora", "octavia", "ovn"}
	}
	c := &Cloud{opt: opt, tokens: map[string]time.Time{}}
	c.Server = rest.Open(opt.Clock, newState(), newWords(), newRoutes(), func(v rest.Visit[*state]) *visit { return &visit{Visit: v, cloud: c} })
	c.Rates = RealThrottle()
	seed, err := seedState(c.Live, opt)
	c.Seed = seed
	return c, err
}
