package tencent

import (
	"net/http"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/rest"
)

// The APIs, as the journal names them.
const (
	apiCLB = "clb"
	apiTag = "tag"
	apiSTS = "sts"
)

// Options configures the cloud. The zero value is an account in ap-guangzhou with the default seed
// without nodes, whose tasks end at once.
type Options struct {
	Region string
	Clock  clock.PassiveClock
	Seed   SeedOptions
	// Task is how long a write takes. Its load balancer refuses other writes meanwhile.
	Task time.Duration
	// Domains gives public load balancers a domain in place of an address.
	Domains bool
	// TagLag is how long a new load balancer is not in lists.
	TagLag time.Duration
	Limits Limits
}

// Limits are quotas. Source: Tencent Cloud, use limits of CLB.
type Limits struct {
	LoadBalancers int // of each network type; default 100
	Listeners     int // of a load balancer; default 50
	Targets       int // of a listener or rule; default 200
	Tags          int // of a creation; default 20
	Name          int // characters of a name; default 80
	Deletions     int // of load balancers within 5 minutes; default 29
}

func (l Limits) withDefaults() Limits {
	sim.Default(&l.LoadBalancers, 100)
	sim.Default(&l.Listeners, 50)
	sim.Default(&l.Targets, 200)
	sim.Default(&l.Tags, 20)
	sim.Default(&l.Name, 80)
	sim.Default(&l.Deletions, 29)
	return l
}

// Cloud is the simulated cloud. It is safe for concurrent use.
type Cloud struct {
	*rest.Server[*state, *visit]
	Seed Seed

	opt    Options
	policy *Policy // nil: every call is allowed
}

// New creates a cloud and seeds it. The error reports options that contradict each other.
func New(opt Options) (*Cloud, error) {
	sim.Default(&opt.Region, "ap-guangzhou")
	sim.RealClock(&opt.Clock)
	opt.Limits = opt.Limits.withDefaults()
	c := &Cloud{opt: opt}
	c.Server = rest.Open(opt.Clock, newState(), apiWords(), allRoutes(), func(v rest.Visit[*state]) *visit {
		return &visit{Visit: v, cloud: c}
	})
	c.Rates = RealThrottle()
	seed, err := plantSeed(c.Live, opt)
	c.Seed = seed
	return c, err
}

// ServeHTTP answers the control API, and takes a call, which is a POST of the root with its action in
// a header, to its route.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, sim.ControlPath) {
		c.Server.ServeHTTP(w, r)
		return
	}
	routed := r.Clone(r.Context())
	routed.URL.Path = "/" + r.Header.Get("X-TC-Version") + "/" + r.Header.Get("X-TC-Action")
	c.Server.ServeHTTP(w, routed)
}

// RealThrottle returns rates for tests: the cloud counts each action.
// Source: tencentcloudstack/terraform-provider-tencentcloud:tencentcloud/ratelimit/config.go.
func RealThrottle() []sim.Bucket {
	return []sim.Bucket{{Name: "action", Per: sim.PerOperation, Capacity: 15, Refill: 15}}
}
