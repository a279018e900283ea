package azure

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers"
)

// listAge is how long the lists are believed by those who want facts alone. They
// hold what this session has written since, so that only what others change is seen
// later. It is long enough for Services that are made together and go on, each at
// its own moment, to their second plan.
const listAge = 5 * time.Second

// lists are the collections in which all Services are. Neither they nor their
// members are written to once they are read.
type lists struct {
	balancers []Object // of the cluster, sorted by name
	security  Object
	byGroup   map[string][]Object // public IPs of the groups that exist
	linksIn   map[string][]Object // private link services
}

// listMemory remembers the lists between reads. It is safe for concurrent use.
type listMemory struct {
	mu      sync.Mutex
	known   lists
	at      time.Time // when their read began; zero: nothing is known
	reading int       // reads under way
	writes  []write   // that have ended while they are
}

// write is what one call has made of a resource: nil, nothing; and whether nobody
// knows.
type write struct {
	path   string
	object Object
	unsure bool
}

// recall returns the lists if they are young enough.
func (m *listMemory) recall(now time.Time) (lists, time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known, m.at, !m.at.IsZero() && now.Sub(m.at) < listAge
}

// begin says that the lists are being read and returns what end must be told.
func (m *listMemory) begin() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reading++
	return len(m.writes)
}

// end remembers what was read, with what was written meanwhile: a list may be from
// before a write or from after it.
func (m *listMemory) end(mark int, read lists, at time.Time, whole bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	meanwhile := m.writes[mark:]
	if m.reading--; m.reading == 0 {
		m.writes = nil
	}
	for _, w := range meanwhile {
		if whole {
			read, whole = read.with(w)
		}
	}
	if whole {
		m.known, m.at = read, at
	}
}

// note takes over what a write has made. What became of a write that failed is not
// known, and one that was refused may mean that somebody else has written.
func (m *listMemory) note(path string, now Object, err error) {
	w := write{path: path, object: now, unsure: err != nil}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reading > 0 {
		m.writes = append(m.writes, w)
	}
	sure := false
	if m.known, sure = m.known.with(w); !sure {
		m.at = time.Time{}
	}
}

// with is a copy of the lists after a write; false if that cannot be told: the write
// was to a part of something, such as a pool, or its end is not known.
func (l lists) with(w write) (lists, bool) {
	group, rest, found := strings.Cut(lower(w.path), "/providers/microsoft.network/")
	parts := strings.Split(rest, "/")
	switch {
	case !found || parts[0] == "networkinterfaces" || parts[0] == "virtualnetworks":
		return l, true // in none of the lists
	case w.unsure || len(parts) != 2:
		return l, false
	}
	group = lastSegment(group)
	switch parts[0] {
	case "loadbalancers":
		l.balancers = replaced(l.balancers, w)
	case "networksecuritygroups":
		l.security = w.object
	case "publicipaddresses":
		l.byGroup = maps.Clone(l.byGroup)
		if _, listed := l.byGroup[group]; listed {
			l.byGroup[group] = replaced(l.byGroup[group], w)
		}
	default: // a private link service changes the load balancer as well
		return l, false
	}
	return l, true
}

// replaced is a copy of a list in which a resource is as it was written.
func replaced(list []Object, w write) []Object {
	out := slices.DeleteFunc(slices.Clone(list), func(o Object) bool { return sameID(o.text("id"), w.path) })
	if w.object != nil {
		out = append(out, w.object)
		slices.SortFunc(out, byNameAndID)
	}
	return out
}

// recallable tells whether what a scope asks for may come from memory: facts alone,
// and of nothing that the user has named, who may have made it a moment ago.
func recallable(scope providers.Scope, known lists) bool {
	named := func(l providers.Lookup) bool {
		switch l.Kind {
		case KindPublicIP:
			_, listed := known.byGroup[lower(l.Value)]
			return l.By != byGroup || l.Value != "" && !listed
		case KindLink:
			_, listed := known.linksIn[lower(l.Value)]
			return l.By != byGroup || l.Value != "" && !listed
		case KindAccess:
			return true
		}
		return false
	}
	return len(scope.Own) == 0 && !slices.ContainsFunc(scope.Facts, named)
}
