package wire

import (
	"slices"
	"sync"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

const (
	// placeAge is how long subnets and zones are believed: they change by hand, and
	// a new load balancer can wait that long for a new subnet.
	placeAge = 10 * time.Minute
	// instanceAge is how long the list of instances is believed, as long as every
	// node that is asked for is in it.
	instanceAge = 10 * time.Minute
	// absentAge is how long an instance that was not in the list is not looked for again.
	absentAge = 10 * time.Second
	// addressAge is how long builds trust the cached list of addresses. It is short, because
	// a user waits for it, and long enough for the Services of one burst.
	addressAge = 5 * time.Second
	// memberAge is how long reads trust the cached members of shared groups; writes rely on
	// what the cloud returns then.
	memberAge = 5 * time.Second
	// endpointAge is how long the endpoints of a group are believed as long as their
	// number is what the list of groups says: the cloud tells them of one group at a
	// time, and only we change them.
	endpointAge = 6 * time.Hour
)

// factCache remembers facts between reads. It is safe for concurrent use; what it
// returns is shared and never written to.
type factCache struct {
	zones     kit.Aged[[]string]
	subnets   kit.Aged[[]model.Subnet]
	instances kit.Aged[instanceList]
	groups    kit.Aged[[]string]
	addresses kit.Aged[[]*computepb.Address]
	rules     kit.Aged[[]*computepb.ForwardingRule]
}

// instanceList is the instances of the managed zones by name, at a time.
type instanceList struct {
	by map[string]model.Instance
	at time.Time
}

func newFactCache() *factCache { return &factCache{} }

// memberCache remembers what is in groups, by the group's path: instances, or
// endpoints. It is safe for concurrent use.
type memberCache[M comparable] struct {
	compare func(M, M) int

	mu    sync.Mutex
	known map[string]memberList[M]
}

// memberList is what a group had at a time.
type memberList[M comparable] struct {
	names []M // sorted; replaced as a whole, never written to
	at    time.Time
	known bool
	// writes counts our writes to the group, so that a response that was under way meanwhile
	// is not taken for the current state.
	writes int
}

func newMemberCache[M comparable](compare func(M, M) int) *memberCache[M] {
	return &memberCache[M]{compare: compare, known: map[string]memberList[M]{}}
}

// get returns the members of a group if they are known and young enough; an age
// of 0 is any.
func (c *memberCache[M]) get(group string, now time.Time, age time.Duration) ([]M, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.known[group]
	if !m.known || (age > 0 && now.Sub(m.at) >= age) {
		return nil, false
	}
	return m.names, true
}

// writes returns the count to be passed to learn with the result of a read that starts
// now.
func (c *memberCache[M]) writes(group string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[group].writes
}

// learn notes what a read has shown, unless we wrote to the group meanwhile.
func (c *memberCache[M]) learn(group string, now time.Time, names []M, writes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.known[group]; m.writes == writes {
		c.known[group] = memberList[M]{names: names, at: now, known: true, writes: writes}
	}
}

// wrote notes which members were added to a group and removed from it; of uncached
// members it notes only that they have changed.
func (c *memberCache[M]) wrote(group string, added, removed []M) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.known[group]
	m.writes++
	if m.known {
		names := slices.DeleteFunc(slices.Concat(m.names, added), func(n M) bool { return slices.Contains(removed, n) })
		slices.SortFunc(names, c.compare)
		m.names = slices.Compact(names)
	}
	c.known[group] = m
}

// made notes a group that is new and empty.
func (c *memberCache[M]) made(group string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[group] = memberList[M]{names: []M{}, at: now, known: true, writes: c.known[group].writes + 1}
}

// drop forgets what a group has.
func (c *memberCache[M]) drop(group string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[group] = memberList[M]{writes: c.known[group].writes + 1}
}

// dropWith forgets what those groups have that are known to have such a member.
func (c *memberCache[M]) dropWith(match func(M) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for group, m := range c.known {
		if slices.ContainsFunc(m.names, match) {
			c.known[group] = memberList[M]{writes: m.writes + 1}
		}
	}
}

// forgottenNodes is how many deleted nodes may be cached, beside the existing ones.
const forgottenNodes = 1000

// machines are the starts of nodes by name, as of the last read. It is safe for
// concurrent use.
type machines struct {
	mu    sync.Mutex
	known map[string]nodeports.Node
	seen  map[string]bool // digests of sets that hold nothing else
}

func newMachines() *machines {
	return &machines{known: map[string]nodeports.Node{}, seen: map[string]bool{}}
}

// cameBack returns the names of those nodes of a set that are other machines, or other
// starts of them, than when it was last called.
func (m *machines) cameBack(set nodeports.NodeSet) map[string]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen[set.Digest()] {
		return nil
	}
	if len(m.known) > forgottenNodes+4*set.Len() {
		clear(m.known)
	}
	out := map[string]bool{}
	for n := range set.All() {
		if old := m.known[n.Name]; n.CameBack(old) {
			out[n.Name] = true
			clear(m.seen) // the same set again would mean the former machine
		}
		m.known[n.Name] = nodeports.Node{Name: n.Name, UID: n.UID, BootID: n.BootID}
	}
	m.seen[set.Digest()] = true
	return out
}

// placeCache remembers where clients of forwarding rules send to, by the rule's
// path. It is safe for concurrent use.
type placeCache struct {
	mu    sync.Mutex
	known map[string]string
}

func newPlaceCache() *placeCache { return &placeCache{known: map[string]string{}} }

func (c *placeCache) get(rule string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.known[rule]
	return at, ok
}

func (c *placeCache) put(rule, at string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[rule] = at
}

func (c *placeCache) drop(rule string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, rule)
}

// recentAge is how long what was done to something shared counts as done: steps
// that gathered while the call was under way come right after it.
const recentAge = 5 * time.Second

// doneCache remembers what was last done to shared things, by path. It is safe for
// concurrent use.
type doneCache struct {
	mu   sync.Mutex
	last map[string]deed
}

// deed is what was done, in words that are equal for equal steps.
type deed struct {
	what    string
	outcome plan.Outcome
	at      time.Time
}

func newDoneCache() *doneCache { return &doneCache{last: map[string]deed{}} }

// again returns the outcome if the very same was the last that was done.
func (c *doneCache) again(what stack.Key, deedText string, now time.Time) (plan.Outcome, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, ok := c.last[what.String()]
	if !ok || d.what != deedText || now.Sub(d.at) >= recentAge {
		return plan.Outcome{}, false
	}
	return d.outcome, true
}

// note remembers what the cloud did, and forgets what was done before it.
func (c *doneCache) note(what stack.Key, deedText string, now time.Time, o plan.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.last, what.String())
	if o.Err == nil && o.Wait == 0 && o.Manual == "" && o.Sent == plan.WasSent {
		c.last[what.String()] = deed{what: deedText, outcome: o, at: now}
	}
}
