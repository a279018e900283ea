package baidu

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
	apiBLB = "blb"
	apiEIP = "eip"

	apiQuota = "quota-center"
)

// Options configures the cloud. The zero value is an account in the region bj with the default seed
// without nodes, whose changes end at once.
type Options struct {
	Region string
	Clock  clock.PassiveClock
	Seed   SeedOptions
	// Busy is how long a change takes. Its load balancer or address refuses others meanwhile.
	Busy time.Duration
	// ListLag is how long lists lack a new load balancer or a new address.
	ListLag time.Duration
	// Unmarked leaves the descriptions of listeners out of answers.
	Unmarked bool
	Limits   Limits
}

// Limits are quotas. Source: https://cloud.baidu.com/doc/BLB/s/Ajwvxno34.
type Limits struct {
	LoadBalancers int // of the account; default 60
	Addresses     int // of the region; default 130, or as many as load balancers
	Listeners     int // of a load balancer; default 50
	Servers       int // of a group; default 50
	Name          int // characters of a name; default 65
	Page          int // objects of a page; default 1000
}

// mostAddresses is the quota of EIPs of a company. Source: https://cloud.baidu.com/doc/EIP/s/Pjwvz2pno-en.
const mostAddresses = 130

func (l Limits) withDefaults() Limits {
	sim.Default(&l.LoadBalancers, 60)
	sim.Default(&l.Addresses, max(mostAddresses, l.LoadBalancers))
	sim.Default(&l.Listeners, 50)
	sim.Default(&l.Servers, 50)
	sim.Default(&l.Name, 65)
	sim.Default(&l.Page, 1000)
	return l
}

// Cloud is the simulated cloud. It is safe for concurrent use.
type Cloud struct {
	*rest.Server[*state, *visit]
	Seed Seed

	opt    Options
	policy Policy // nil: every call is allowed
}

// New creates a cloud and seeds it. The error reports options that contradict each other.
func New(opt Options) (*Cloud, error) {
	sim.Default(&opt.Region, "bj")
	sim.RealClock(&opt.Clock)
	opt.Limits = opt.Limits.withDefaults()
	c := &Cloud{opt: opt}
	c.Server = rest.Open(opt.Clock, newState(), apiWords(), allRoutes(), func(v rest.Visit[*state]) *visit {
		return &visit{Visit: v, cloud: c}
	})
	seed, err := plantSeed(c.Live, opt)
	c.Seed = seed
	return c, err
}

// queryActions are the parameters of the query that say what a change does.
func queryActions() []string {
	return []string{"batchdelete", "delete", "update", "bind", "unbind", "resize"}
}

// ServeHTTP answers the control API, and takes a call to the route of its path and action.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, sim.ControlPath) {
		c.Server.ServeHTTP(w, r)
		return
	}
	routed := r.Clone(r.Context())
	for _, action := range queryActions() {
		if r.URL.Query().Has(action) {
			routed.URL.Path += actionMark + action
		}
	}
	c.Server.ServeHTTP(w, routed)
}

// actionMark divides the path of a route from its action.
const actionMark = "/:"

// RealThrottle returns rates for tests. Baidu publishes none.
func RealThrottle() []sim.Bucket {
	return []sim.Bucket{{Name: "operation", Per: sim.PerOperation, Capacity: 20, Refill: 20}}
}
