package oci

import (
	"crypto/rsa"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/rest"
)

// The APIs, as the journal names them.
const (
	apiLB   = "loadbalancer"
	apiNLB  = "networkloadbalancer"
	apiCore = "core"

	apiLimits = "limits"
)

// The base paths of the APIs. Source: API reference, "Endpoints" of each service.
const (
	pathLB   = "/20170115/"
	pathNLB  = "/20200501/"
	pathCore = "/20160918/"
)

// Options configures the cloud. The zero value is a tenancy in eu-frankfurt-1 with the
// default seed without nodes, and work requests that take no time.
type Options struct {
	Region string
	Clock  clock.PassiveClock
	Seed   SeedOptions
	// Work is how long a work request takes.
	Work time.Duration
	// Breaks is a part of the names of load balancers whose work requests fail, all but
	// those of deletion; empty: none do.
	Breaks string
	// Page is how many objects of a list are on a page at most; 0 is 100.
	Page int
	// NoFixedShapes leaves no limit for shapes but the flexible one, as new tenancies have it.
	NoFixedShapes bool
	// RequireSignature refuses calls that are not signed with a key that was made known.
	RequireSignature bool
	Limits           Limits
}

// Cloud is the simulated cloud. It is safe for concurrent use.
type Cloud struct {
	*rest.Server[*state, *visit]
	Seed Seed

	opt Options

	machine func() (machine, error) // made when it is first asked for

	// Behind the lock:
	tokens   map[string]seen // by retry token
	keys     map[string]*rsa.PublicKey
	sessions map[string]session // by token
	granted  map[grant]bool     // by a policy
	judged   bool               // by it
}

// New makes a cloud and seeds it. The error tells of options that do not fit together.
func New(opt Options) (*Cloud, error) {
	sim.Default(&opt.Region, "eu-frankfurt-1")
	sim.RealClock(&opt.Clock)
	sim.Default(&opt.Page, 100)
	opt.Limits = opt.Limits.orDefault()
	c := &Cloud{opt: opt, tokens: map[string]seen{}, keys: map[string]*rsa.PublicKey{}, sessions: map[string]session{}}
	c.Server = rest.Open(opt.Clock, newState(opt.Region), newWords(), newRoutes(), func(v rest.Visit[*state]) *visit { return &visit{Visit: v, cloud: c} })
	c.Rates = RealThrottle()
	seed, err := seedState(c.Live, opt)
	c.Seed = seed
	c.machine = sync.OnceValues(func() (machine, error) { return newMachine(seed.Tenancy, c.Clock.Now()) })
	return c, err
}
