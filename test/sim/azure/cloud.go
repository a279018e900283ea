package azure

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/azure/compute"
	"github.com/berth-lb/berth/test/sim/azure/network"
)

// Options configures the cloud. The zero value is eastus with three zones, the
// default seed without nodes, no delays and no throttling.
type Options struct {
	// Location is the region in the form of ids, default "eastus", and Display
	// its name for people, default "East US".
	Location, Display string
	// Subscription and Tenant are GUIDs with a default.
	Subscription, Tenant string
	// NoZones makes a region without availability zones.
	NoZones bool
	Clock   clock.PassiveClock
	Seed    SeedOptions
	// Empty leaves the seed out: a subscription without a resource group.
	Empty bool
	// Quotas are the calls that a subscription has per hour; zero for Azure's
	// numbers. They are shown in headers, and refuse nothing unless Enforce is set.
	Quotas Quotas
	// RetryAfter is what throttled answers tell the client to wait, in whole
	// seconds; default 1.
	RetryAfter int
	// Hosts are names and addresses for the certificate besides those of loopback.
	Hosts []string
	// ARM and Network take further options; what is above is filled in.
	ARM     arm.Options
	Network network.Options
}

// Cloud is the simulated cloud. It is safe for concurrent use.
type Cloud struct {
	sim.Control
	// ARM holds all resources; tests read it while no call is running.
	ARM  *arm.Service
	Seed Seed
	// Authority is the certificate of the HTTPS side; see Listener.
	Authority *Authority

	opt   Options
	clock clock.PassiveClock
	quota quota
	past  sim.History[*arm.Service]
	role  *Role // judges calls, if there is one

	limits network.Limits
	// running lets reads pass side by side and writes one at a time.
	running sync.RWMutex
}

// New makes a cloud and seeds it. The error tells of options that do not fit together.
func New(opt Options) (*Cloud, error) {
	applyDefaults(&opt)
	net := network.New(opt.Network)
	comp := compute.New(compute.Options{Location: opt.Location, Display: opt.Display, Zones: opt.Network.Zones})
	c := &Cloud{opt: opt, clock: opt.Clock, quota: quota{limits: opt.Quotas}, limits: net.Limits}
	c.ARM = arm.NewService(opt.ARM, append(net.Kinds(), comp.Kinds()...), append(append(net.Extra(), comp.Extra()...), c.accountCalls()...))
	c.State, c.Rates = c.dump, RealThrottle()
	var err error
	if c.Authority, err = newAuthority(opt.Hosts, time.Now()); err != nil {
		return nil, err
	}
	if opt.Empty {
		return c, nil
	}
	if c.Seed, err = buildSeed(c.ARM, opt); err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	return c, nil
}

func applyDefaults(opt *Options) {
	sim.Default(&opt.Location, "eastus")
	sim.Default(&opt.Subscription, "11111111-2222-4333-8444-555555555555")
	sim.Default(&opt.Tenant, "66666666-7777-4888-9999-aaaaaaaaaaaa")
	sim.Default(&opt.Display, map[bool]string{true: "East US", false: opt.Location}[opt.Location == "eastus"])
	sim.RealClock(&opt.Clock)
	if opt.RetryAfter <= 0 {
		opt.RetryAfter = 1
	}
	if !opt.NoZones && opt.Network.Zones == nil {
		opt.Network.Zones = []string{"1", "2", "3"}
	}
	opt.Quotas.fill()
	opt.ARM.Subscription, opt.ARM.Tenant, opt.ARM.Location = opt.Subscription, opt.Tenant, opt.Location
}

// dump is every resource as a GET would show it, by id.
func (c *Cloud) dump() any {
	c.settle()
	c.running.RLock()
	defer c.running.RUnlock()
	out := map[string]any{}
	for _, r := range c.ARM.State.Everything() {
		out[r.ID.String()] = c.ARM.Render(r)
	}
	return out
}

// ServeHTTP answers the control API under /_sim/ and the cloud everywhere else.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.Handle(w, r, func() (*sim.Visit, sim.Answer) {
		req, bad := arm.ReadRequest(r)
		req.Now = c.clock.Now()
		v := &visit{cloud: c, request: req, raw: r}
		v.find()
		if bad == nil {
			bad = v.authenticate()
		}
		if bad != nil {
			v.answer = arm.Refuse(bad)
		} else {
			v.run(r.Context())
		}
		return v.note(), func(w http.ResponseWriter, number int) {
			v.headers(number)
			v.answer.Send(w)
		}
	})
}

// settle ends the long running writes whose time has come.
func (c *Cloud) settle() {
	now := c.clock.Now()
	c.running.RLock()
	due := c.ARM.Due(now)
	c.running.RUnlock()
	if due {
		c.running.Lock()
		defer c.running.Unlock()
		c.ARM.Settle(now)
	}
}
