package wire

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/observed"
)

const (
	// zoneAge is how long the zones of a region are believed; they never change in
	// the life of most clusters.
	zoneAge = time.Hour
	// subnetAge is how long a subnet is cached. It is short, because a user waits for a new
	// subnet, and long enough for the Services of one burst.
	subnetAge = 30 * time.Second
	// fleetAge is how long the lists of machines are believed, for all Services that
	// hear of a new node at the same time.
	fleetAge = 2 * time.Second
	// deniedAge is how long a public IP that must not be read is not asked for again.
	deniedAge = 10 * time.Minute
)

// factCache remembers facts between reads. It is safe for concurrent use.
type factCache struct {
	zones  kit.Aged[[]string]
	fleets map[string]*kit.Aged[*fleet] // by the groups in which the machines are
	// suspects are the addresses that Azure did not take, by pool.
	suspects fault.Suspects
	ips      *observed.Values[stack.Key, knownIP]

	mu      sync.Mutex
	subnets map[string]*kit.Aged[*model.FoundSubnet] // by name in lower case
	nodes   map[string]bool                          // addresses of the nodes that were last asked about
}

// knownIP is what never changes of a public IP.
type knownIP struct {
	address, version string
	isDenied         bool // it could not be read
}

func newFactCache(now func() time.Time) *factCache {
	return &factCache{subnets: map[string]*kit.Aged[*model.FoundSubnet]{}, fleets: map[string]*kit.Aged[*fleet]{}, ips: observed.NewValues[stack.Key, knownIP](now)}
}

func (c *factCache) subnet(name string) *kit.Aged[*model.FoundSubnet] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return entryOf(c.subnets, name)
}

func (c *factCache) fleet(groups string) *kit.Aged[*fleet] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return entryOf(c.fleets, groups)
}

// entryOf returns an entry of a map, which it creates if there is none.
func entryOf[T any](entries map[string]*T, key string) *T {
	if entries[key] == nil {
		entries[key] = new(T)
	}
	return entries[key]
}

// forgetFleet makes the next read list the machines again.
func (c *factCache) forgetFleet() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.fleets)
}

// learnIP caches a public IP.
func (c *factCache) learnIP(o model.Object) {
	f := model.PublicIPOf(o)
	c.ips.Set(model.PublicIPKey(f.Group, f.Name), knownIP{address: f.Address, version: f.Version})
}

func (c *factCache) address(k stack.Key) string {
	ip, _ := c.ips.Get(k, 0)
	return ip.address
}

func (c *factCache) version(k stack.Key) string {
	ip, _ := c.ips.Get(k, 0)
	return ip.version
}

// seeNodes notes the addresses of nodes and returns those noted last. A Service
// that is released is looked at without nodes, whose addresses are in use all
// the same.
func (c *factCache) seeNodes(now map[string]bool) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(now) > 0 {
		c.nodes = now
	}
	return slices.Collect(maps.Keys(c.nodes))
}
