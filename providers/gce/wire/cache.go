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

// editMembers returns the change of a cached list of members, which is sorted: instances of a
// group, or its endpoints.
func editMembers[M comparable](compare func(M, M) int, added, removed []M) func([]M) []M {
	return func(all []M) []M {
		all = slices.DeleteFunc(slices.Concat(all, added), func(m M) bool { return slices.Contains(removed, m) })
		slices.SortFunc(all, compare)
		return slices.Compact(all)
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

// recentAge is how long what was done to something shared counts as done: steps
// that gathered while the call was under way come right after it.
const recentAge = 5 * time.Second

// deed is what was last done to something shared, in words that are equal for equal steps.
type deed struct {
	what    string
	outcome plan.Outcome
}

// recordDeed records what the cloud did, and forgets what was done before it.
func (s *Session) recordDeed(key stack.Key, what string, o plan.Outcome) {
	s.done.Forget(key)
	if o.Err == nil && o.Wait == 0 && o.Manual == "" && o.Sent == plan.WasSent {
		s.done.Set(key, deed{what: what, outcome: o})
	}
}
