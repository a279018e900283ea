package wire

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack/observed"
)

const (
	// networkAge is how long subnets, route tables and zones are believed: they
	// change by hand, and a new load balancer can wait that long for a new subnet.
	networkAge = 10 * time.Minute
	// groupAge is how long builds trust the cached groups of the nodes. A read of what a
	// Service owns reads them again.
	groupAge = 10 * time.Minute
	// instanceAge is how long an instance's groups and zone are believed.
	instanceAge = 30 * time.Minute
	// absentAge is how long an instance that EC2 did not know, or that did not run, is
	// not asked for again.
	absentAge = time.Minute
)

// factCache remembers facts between reads. It is safe for concurrent use.
type factCache struct {
	network  kit.Aged[[]model.Subnet]
	machines *kit.Known[string, model.Instance] // by their ids
	pods     *kit.Known[string, []string]       // groups of pods with network interfaces of their own, by address
	servers  *kit.Known[string, model.Servers]  // ids for QUIC, by UIDs of pods
	named    *kit.Known[string, namedGroup]     // groups that Services or rules name by id
	groups   struct {
		sync.Mutex
		list []model.NodeGroup // sorted by id; replaced as a whole, never written to
		at   time.Time
		// names are those of groups that load balancers have for themselves, by id.
		// Neither changes, so they are kept; replaced as a whole, never written to.
		names map[string]string
		asked map[string]bool // groups that Services name and that could be listed when they did
	}
	classic struct {
		sync.Mutex
		there map[string]bool // names of Classic Load Balancers that existed at the last read
		calls int             // calls of the last list of all of the account; 0: none yet
	}
	limits kit.Aged[model.TargetQuota] // as AWS tells them; zero where it does not
	// reported are the values of quotas that refusals report, by name.
	reported kit.Aged[map[string]string]
	quota    struct { // as refusals have shown it
		sync.Mutex
		model.TargetQuota
	}
	refused  refusedNames   // by AWS, which does not have them
	suspects fault.Suspects // members that AWS did not take, by load balancer or target group
	// awaited are the times until which the first healthy target of target groups is waited for.
	awaited *observed.Values[string, time.Time]
	// stacks are the Services that the tags of load balancers name, by ARN; empty where they
	// name none of this cluster.
	stacks *observed.Values[string, string]
	last   struct {
		sync.Mutex
		of   factsKey
		made *model.Facts
	}
}

// factsKey is what Facts are made of. Lists that are replaced as a whole are the
// same if they begin at the same place, names of groups if they are as many.
type factsKey struct {
	nodes    string // digest of the set
	machines int    // version
	pods     int    // version
	unseen   bool   // they may not be asked for
	servers  int    // version
	subnets  *model.Subnet
	groups   *model.NodeGroup
	names    int
	quota    model.TargetQuota
	named    string // groups by the tag Name
	given    string // load balancers of others
	absent   string // names that AWS does not have
}

func newFactCache(now func() time.Time) *factCache {
	c := &factCache{machines: kit.NewKnown[string](instanceAge, absentAge, func(i model.Instance) bool { return i.Stopped })}
	c.pods = kit.NewKnown[string, []string](podAge, absentPodAge, nil)
	c.servers = kit.NewKnown[string, model.Servers](serverAge, absentServerAge, nil)
	c.named = kit.NewKnown[string, namedGroup](namedAge, missingAge, nil)
	c.awaited, c.stacks = observed.NewValues[string, time.Time](now), observed.NewValues[string, string](now)
	c.groups.asked = map[string]bool{}
	c.classic.there = map[string]bool{}
	return c
}

// stackOf returns the Service that the tags of a load balancer name.
func (c *factCache) stackOf(arn string) string {
	name, _ := c.stacks.Get(arn, 0)
	return name
}

// refresh asks for the ids again, whatever is remembered.
func (c *factCache) refresh(ctx context.Context, now time.Time, ids []string, fetch func(context.Context, []string) (map[string]model.Instance, error)) (map[string]model.Instance, error) {
	c.machines.Forget(ids...)
	found, _, err := c.machines.Get(ctx, now, ids, fetch)
	return found, err
}

// same are the last Facts if they were made of the same; else they are made.
func (c *factCache) same(of factsKey, make func() *model.Facts) *model.Facts {
	c.last.Lock()
	defer c.last.Unlock()
	if c.last.made == nil || c.last.of != of {
		c.last.of, c.last.made = of, make()
	}
	return c.last.made
}

// targetQuota is how many targets AWS says that it allows, else was found to allow.
func (c *factCache) targetQuota() model.TargetQuota {
	if told := c.limits.Last(); told != (model.TargetQuota{}) {
		return told
	}
	c.quota.Lock()
	defer c.quota.Unlock()
	return c.quota.TargetQuota
}

// learnTargets notes that AWS refused targets although no more were registered than
// these: its quotas are at most so high, and at least those of every account.
func (c *factCache) learnTargets(inGroup int, inZones map[string]int) {
	c.quota.Lock()
	defer c.quota.Unlock()
	c.quota.Group = max(c.quota.Group, model.DefaultGroupTargets, inGroup)
	c.quota.Zone = max(c.quota.Zone, model.DefaultZoneTargets)
	for _, n := range inZones {
		c.quota.Zone = max(c.quota.Zone, n)
	}
}

// remembered are the ids of all instances that were asked for lately.
func (c *factCache) remembered() []string { return slices.Sorted(maps.Keys(c.machines.All())) }

// subnetZones are the zones of the remembered subnets, by id.
func (c *factCache) subnetZones() map[string]string {
	out := map[string]string{}
	for _, s := range c.network.Last() {
		out[s.ID] = s.Zone
	}
	return out
}

// zones are those of all instances that were asked for lately, by id.
func (c *factCache) zones() map[string]string {
	out := map[string]string{}
	for id, i := range c.machines.All() {
		out[id] = i.Zone
	}
	return out
}

// nodeGroups returns the remembered groups; false if they are too old, lack one that is
// needed, or were listed before a Service named a group.
func (c *factCache) nodeGroups(now time.Time, needed, named []string) ([]model.NodeGroup, bool) {
	c.groups.Lock()
	defer c.groups.Unlock()
	if c.groups.at.IsZero() || now.Sub(c.groups.at) >= groupAge {
		return nil, false
	}
	for _, id := range named {
		if !c.groups.asked[id] {
			return nil, false
		}
	}
	for _, id := range needed {
		if _, ok := groupAt(c.groups.list, id); !ok {
			return nil, false
		}
	}
	return c.groups.list, true
}

func (c *factCache) learnGroups(now time.Time, list []model.NodeGroup, names map[string]string, named []string) {
	c.groups.Lock()
	defer c.groups.Unlock()
	c.groups.list, c.groups.at = list, now
	if all := maps.Clone(c.groups.names); all != nil {
		maps.Copy(all, names)
		names = all
	}
	c.groups.names = names
	for _, id := range named {
		c.groups.asked[id] = true
	}
}

// groupNames are the names of groups that load balancers have for themselves, by
// id: those of all listings so far.
func (c *factCache) groupNames() map[string]string {
	c.groups.Lock()
	defer c.groups.Unlock()
	return c.groups.names
}

// rulesIn are the remembered rules of a group.
func (c *factCache) rulesIn(now time.Time, group string) ([]model.FoundRule, bool) {
	c.groups.Lock()
	defer c.groups.Unlock()
	i, ok := groupAt(c.groups.list, group)
	if !ok || now.Sub(c.groups.at) >= groupAge {
		return nil, false
	}
	return c.groups.list[i].Rules, true
}

// learnRules notes the rules of a group after a write to it. The list is copied,
// because facts that were handed out share it.
func (c *factCache) learnRules(group string, rules []model.FoundRule) {
	c.groups.Lock()
	defer c.groups.Unlock()
	i, ok := groupAt(c.groups.list, group)
	if !ok {
		return
	}
	c.groups.list = slices.Clone(c.groups.list)
	c.groups.list[i].Rules = rules
}

// classicKnown parts the names into those of Classic Load Balancers that existed at the
// last read and others, and returns how many calls the last list of all took; 0 if there
// was none.
func (c *factCache) classicKnown(names []string) (there, others []string, calls int) {
	c.classic.Lock()
	defer c.classic.Unlock()
	for _, name := range names {
		if c.classic.there[name] {
			there = append(there, name)
		} else {
			others = append(others, name)
		}
	}
	return there, others, c.classic.calls
}

// listedClassic notes a list of all Classic Load Balancers of the account.
func (c *factCache) listedClassic(names []string, calls int) {
	c.classic.Lock()
	defer c.classic.Unlock()
	clear(c.classic.there)
	for _, name := range names {
		c.classic.there[name] = true
	}
	c.classic.calls = calls
}

// learnClassic notes Classic Load Balancers that exist.
func (c *factCache) learnClassic(names []string) {
	c.classic.Lock()
	defer c.classic.Unlock()
	for _, name := range names {
		c.classic.there[name] = true
	}
}

// forgetClassic notes that a Classic Load Balancer no longer exists.
func (c *factCache) forgetClassic(name string) {
	c.classic.Lock()
	defer c.classic.Unlock()
	delete(c.classic.there, name)
}

func groupAt(sorted []model.NodeGroup, id string) (int, bool) {
	return slices.BinarySearchFunc(sorted, id, func(g model.NodeGroup, id string) int { return strings.Compare(g.ID, id) })
}
