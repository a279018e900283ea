package aws

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// networkAge is how long subnets, route tables and zones are believed: they
	// change by hand, and a new load balancer can wait that long for a new subnet.
	networkAge = 10 * time.Minute
	// groupAge is how long the groups of the nodes are believed by those who only
	// build; whoever reads what a Service owns reads them anew.
	groupAge = 10 * time.Minute
	// instanceAge is how long an instance's groups and zone are believed.
	instanceAge = 30 * time.Minute
	// absentAge is how long an instance that EC2 did not know is not asked for again.
	absentAge = time.Minute
)

// factCache remembers facts between reads. It is safe for concurrent use; a
// reader that needs what another one is just fetching waits for it.
type factCache struct {
	network struct {
		sync.Mutex
		subnets []Subnet
		at      time.Time
	}
	machines struct {
		sync.Mutex
		known   map[string]knownInstance
		version int // counts the changes
	}
	groups struct {
		sync.Mutex
		list []NodeGroup // sorted by id; replaced as a whole, never written to
		at   time.Time
		// names are those of groups that load balancers have for themselves, by id.
		// Neither changes, so they are kept; replaced as a whole, never written to.
		names map[string]string
		asked map[string]bool // groups that Services name and that could be listed when they did
	}
	classic struct {
		sync.Mutex
		there map[string]bool // names of Classic Load Balancers that were there the last time
		calls int             // what it took to list all of the account; 0: nobody has
	}
	last struct {
		sync.Mutex
		of   factsKey
		made *Facts
	}
}

// factsKey is what Facts are made of. Lists that are replaced as a whole are the
// same if they begin at the same place, names of groups if they are as many.
type factsKey struct {
	nodes    string // digest of the set
	machines int    // version
	subnets  *Subnet
	groups   *NodeGroup
	names    int
}

// knownInstance is an instance, or the memory that there was none.
type knownInstance struct {
	Instance
	exists bool
	at     time.Time
}

func newFactCache() *factCache {
	c := &factCache{}
	c.machines.known = map[string]knownInstance{}
	c.groups.asked = map[string]bool{}
	c.classic.there = map[string]bool{}
	return c
}

// subnets returns the remembered subnets or fetches them.
func (c *factCache) subnets(ctx context.Context, now time.Time, fetch func(context.Context) ([]Subnet, error)) ([]Subnet, error) {
	c.network.Lock()
	defer c.network.Unlock()
	if !c.network.at.IsZero() && now.Sub(c.network.at) < networkAge {
		return c.network.subnets, nil
	}
	subnets, err := fetch(ctx)
	if err != nil {
		return nil, err
	}
	c.network.subnets, c.network.at = subnets, now
	return subnets, nil
}

// instances returns those of the ids that exist, fetching the ones that are not
// known or known for too long, and the version of what it has looked at.
func (c *factCache) instances(ctx context.Context, now time.Time, ids []string, fetch func(context.Context, []string) ([]Instance, error)) (map[string]Instance, int, error) {
	c.machines.Lock()
	defer c.machines.Unlock()
	var stale []string
	for _, id := range ids {
		if k, ok := c.machines.known[id]; !ok || now.Sub(k.at) >= k.age() {
			stale = append(stale, id)
		}
	}
	if len(stale) > 0 {
		found, err := fetch(ctx, stale)
		if err != nil {
			return nil, 0, err
		}
		c.learn(now, stale, found)
	}
	out := make(map[string]Instance, len(ids))
	for _, id := range ids {
		if k := c.machines.known[id]; k.exists {
			out[id] = k.Instance
		}
	}
	return out, c.machines.version, nil
}

// refresh asks for the ids again, whatever is remembered.
func (c *factCache) refresh(ctx context.Context, now time.Time, ids []string, fetch func(context.Context, []string) ([]Instance, error)) (map[string]Instance, error) {
	c.machines.Lock()
	for _, id := range ids {
		delete(c.machines.known, id)
	}
	c.machines.version++
	c.machines.Unlock()
	found, _, err := c.instances(ctx, now, ids, fetch)
	return found, err
}

func (c *factCache) learn(now time.Time, asked []string, found []Instance) {
	c.machines.version++
	for id, k := range c.machines.known {
		if now.Sub(k.at) > 2*instanceAge {
			delete(c.machines.known, id) // nobody asks for it any more
		}
	}
	for _, id := range asked {
		c.machines.known[id] = knownInstance{at: now}
	}
	for _, i := range found {
		c.machines.known[i.ID] = knownInstance{Instance: i, exists: true, at: now}
	}
}

func (k knownInstance) age() time.Duration {
	if k.exists {
		return instanceAge
	}
	return absentAge
}

// same are the last Facts if they were made of the same; else they are made.
func (c *factCache) same(of factsKey, make func() *Facts) *Facts {
	c.last.Lock()
	defer c.last.Unlock()
	if c.last.made == nil || c.last.of != of {
		c.last.of, c.last.made = of, make()
	}
	return c.last.made
}

// remembered are the ids of all instances that were asked for lately.
func (c *factCache) remembered() []string {
	c.machines.Lock()
	defer c.machines.Unlock()
	var out []string
	for id, k := range c.machines.known {
		if k.exists {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// nodeGroups returns the remembered groups; false if they are too old, lack a
// group of one of the instances, or were listed before a Service named a group.
func (c *factCache) nodeGroups(now time.Time, instances map[string]Instance, named []string) ([]NodeGroup, bool) {
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
	for _, i := range instances {
		for _, g := range i.Groups {
			if _, ok := groupAt(c.groups.list, g); !ok {
				return nil, false
			}
		}
	}
	return c.groups.list, true
}

func (c *factCache) learnGroups(now time.Time, list []NodeGroup, names map[string]string, named []string) {
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
func (c *factCache) rulesIn(now time.Time, group string) ([]FoundRule, bool) {
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
func (c *factCache) learnRules(group string, rules []FoundRule) {
	c.groups.Lock()
	defer c.groups.Unlock()
	i, ok := groupAt(c.groups.list, group)
	if !ok {
		return
	}
	c.groups.list = slices.Clone(c.groups.list)
	c.groups.list[i].Rules = rules
}

// classicKnown parts the names into those of Classic Load Balancers that were there
// the last time and others, and says how many calls the last list of all took; 0
// if there was none.
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

// learnClassic notes Classic Load Balancers that are there.
func (c *factCache) learnClassic(names []string) {
	c.classic.Lock()
	defer c.classic.Unlock()
	for _, name := range names {
		c.classic.there[name] = true
	}
}

// forgetClassic notes that a Classic Load Balancer is not there any more.
func (c *factCache) forgetClassic(name string) {
	c.classic.Lock()
	defer c.classic.Unlock()
	delete(c.classic.there, name)
}

func groupAt(sorted []NodeGroup, id string) (int, bool) {
	return slices.BinarySearchFunc(sorted, id, func(g NodeGroup, id string) int { return strings.Compare(g.ID, id) })
}
