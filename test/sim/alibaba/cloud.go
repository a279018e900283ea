package alibaba

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/rest"
)

// The APIs, as the journal names them.
const (
	apiSLB = "slb"
	apiECS = "ecs"
	apiVPC = "vpc"
	apiSTS = "sts"
	apiNLB = "nlb"

	apiQuotas = "quotas"
)

// apiOf returns the API of a version; empty: there is none.
func apiOf(version string) string {
	return map[string]string{"2014-05-15": apiSLB, "2014-05-26": apiECS, "2016-04-28": apiVPC, "2015-04-01": apiSTS, "2022-04-30": apiNLB, "2020-05-10": apiQuotas}[version]
}

// Options configures the cloud. The zero value is an account in cn-hangzhou with the default seed
// without nodes, whose load balancers are never busy.
type Options struct {
	Region string
	Clock  clock.PassiveClock
	Seed   SeedOptions
	// Busy is how long a load balancer is busy after a write.
	Busy time.Duration
	// BusyReads refuses reads about a busy load balancer as well.
	BusyReads bool
	// Jobs is how long a job of the NLB API takes, and Provision how long a network load balancer is being created.
	Jobs, Provision time.Duration
	// Gates are the feature gates of the configuration.
	Gates  string
	Limits Limits
}

// Limits are quotas. Source: Alibaba Cloud, quotas of CLB.
type Limits struct {
	LoadBalancers int // of an account; default 60
	Listeners     int // of a load balancer; default 50
	Servers       int // of a load balancer; default 200
	Tags          int // of a load balancer; default 10
	Name          int // characters of names and descriptions; default 80
	Rules         int // of a security group; default 200
}

func (l Limits) withDefaults() Limits {
	sim.Default(&l.LoadBalancers, 60)
	sim.Default(&l.Listeners, 50)
	sim.Default(&l.Servers, 200)
	sim.Default(&l.Tags, 10)
	sim.Default(&l.Name, 80)
	sim.Default(&l.Rules, 200)
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
	sim.Default(&opt.Region, "cn-hangzhou")
	sim.RealClock(&opt.Clock)
	opt.Limits = opt.Limits.withDefaults()
	c := &Cloud{opt: opt}
	c.Server = rest.Open(opt.Clock, newState(), apiWords(), allRoutes(), func(v rest.Visit[*state]) *visit {
		return &visit{Visit: v, cloud: c, query: v.HTTP.URL.Query()}
	})
	c.Rates = RealThrottle()
	seed, err := plantSeed(c.Live, opt)
	c.Seed = seed
	return c, err
}

// ServeHTTP answers the control API, and takes an RPC call, which is a POST of the root with its
// version and action as parameters or headers, to its route.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, sim.ControlPath) {
		c.Server.ServeHTTP(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/latest/") {
		c.serveMetadata(w, r)
		return
	}
	routed := r.Clone(r.Context())
	query := r.URL.Query()
	version, action := cmp.Or(query.Get("Version"), r.Header.Get("X-Acs-Version")), cmp.Or(query.Get("Action"), r.Header.Get("X-Acs-Action"))
	routed.URL.Path = "/" + cmp.Or(apiOf(version), "unknown") + "/" + url.PathEscape(action)
	c.Server.ServeHTTP(w, routed)
}

// RealThrottle returns rates for tests: the cloud counts each action.
func RealThrottle() []sim.Bucket {
	return []sim.Bucket{
		{Name: "action", Service: apiSLB, Per: sim.PerOperation, Capacity: 15, Refill: 15},
		{Name: "network action", Service: apiNLB, Per: sim.PerOperation, Capacity: 15, Refill: 15},
	}
}
