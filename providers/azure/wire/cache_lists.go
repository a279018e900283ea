package wire

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/stack"
)

// listAge is how long the lists are believed. They hold what this session has
// written since, so that only what others change is seen later. It is long enough
// for Services that are made together but become known, and go on to their second
// plan, each at its own moment. Where writes take long they go on to it when those have
// ended; so the lists are believed for as long after one too, but no longer than
// oldestList altogether.
const (
	listAge    = 5 * time.Second
	oldestList = time.Minute
)

// lists are the collections in which all Services are. Neither they nor their
// members are written to once they are read.
type lists struct {
	balancers []model.Object // of the cluster, sorted by name
	security  model.Object
	byGroup   map[string][]model.Object // public IPs of the groups that exist
	linksIn   map[string][]model.Object // private link services
	gateway   model.GatewayLists
}

// listMemory remembers the lists between reads. It is safe for concurrent use.
type listMemory struct {
	mu      sync.Mutex
	known   lists
	at      time.Time       // when their read began; zero: nothing is known
	began   time.Time       // start of the last read of lists, whatever its result
	wrote   time.Time       // when the last write ended
	reading int             // reads under way
	writes  []write         // that have ended while they are
	late    map[string]edit // the last ones, by their keys
	// looks are when Services last looked for what they own, those of the last oldestList.
	looks map[stack.Owner]time.Time
}

// write is the result of one call on a resource: object is nil if the resource no longer
// exists, and unsure is set if the result is unknown.
type write struct {
	path   string
	object model.Object
	unsure bool
	began  time.Time
	edits  []edit // of load balancers that the call was not about
	apart  bool   // what it was about is in no list
}

// recall returns the lists if they are recent enough for all scopes. A Service that reads
// its own resources gets lists that are newer than its last read, so that a repeated read
// is never answered with the same data.
func (m *listMemory) recall(scopes []providers.Scope, now time.Time) (lists, time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.looks, func(_ stack.Owner, at time.Time) bool { return now.Sub(at) >= oldestList })
	ok := m.young(now)
	for _, scope := range scopes {
		ok = ok && canUseCache(scope, m.known)
		if len(scope.Own) == 0 {
			continue
		}
		last, looked := m.looks[scope.Owner]
		ok = ok && (!looked || m.at.After(last))
	}
	for _, scope := range scopes {
		if len(scope.Own) > 0 {
			if m.looks == nil {
				m.looks = map[stack.Owner]time.Time{}
			}
			m.looks[scope.Owner] = now
		}
	}
	return m.known, m.at, ok
}

// young reports whether the lists are recent enough. The lock is held.
func (m *listMemory) young(now time.Time) bool {
	age := now.Sub(m.at)
	return !m.at.IsZero() && (age < listAge || age < oldestList && now.Sub(m.wrote) < listAge)
}

// extended is how long something is believed that is believed for an age: as long as the
// lists while writes end, for it is the same Services that go on to their next plan then.
func (m *listMemory) extended(now time.Time, age time.Duration) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Sub(m.wrote) < listAge {
		return oldestList
	}
	return age
}

// publicIP is a public IP as the lists show it, nil if they do not; false if they are
// too old to say.
func (m *listMemory) publicIP(id string, now time.Time) (model.Object, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list, listed := m.known.byGroup[model.GroupOf(id)]
	if !m.young(now) || !listed {
		return nil, false
	}
	i := slices.IndexFunc(list, func(o model.Object) bool { return model.SameID(o.Text("id"), id) })
	if i < 0 {
		return nil, true
	}
	return list[i], true
}

// begin records the start of a read of the lists, and returns the argument for end.
func (m *listMemory) begin(at time.Time) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reading++
	if at.After(m.began) {
		m.began = at
	}
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
			read, whole = read.merged(w)
		}
	}
	if whole {
		m.known, m.at = read, at
	}
}

// note merges the result of a write that ended at a moment. The result of a failed write is
// unknown, and a refused one may mean that another program has written.
func (m *listMemory) note(path string, made model.Object, err error, at time.Time) {
	m.enter(write{path: path, object: made, unsure: err != nil, began: at}, at)
}

// enter is note of a write that began before. What it shows of a load balancer may be older
// than what others have written since it began.
func (m *listMemory) enter(w write, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrote = at
	if e, is := poolEdit(w, at); is {
		w.edits, w.apart = []edit{e}, true
	}
	for _, e := range w.edits {
		if m.late == nil {
			m.late = map[string]edit{}
		}
		m.late[e.key] = e
	}
	switch {
	case w.apart || w.unsure:
	case w.object == nil:
		maps.DeleteFunc(m.late, func(_ string, e edit) bool { return model.SameID(e.balancer, w.path) }) // it is deleted
	default:
		w.object = m.since(w.began, w.path, w.object)
	}
	if m.reading > 0 {
		m.writes = append(m.writes, w)
	}
	sure := false
	if m.known, sure = m.known.merged(w); !sure {
		m.at = time.Time{}
	}
}

// merged returns a copy of the lists after a write. It returns false if that is unknown:
// the write was to a part of a resource other than a load balancer, or its result is
// unknown.
func (l lists) merged(w write) (lists, bool) {
	if w.apart {
		return l.edited(w.edits), true
	}
	group, rest, found := strings.Cut(strings.ToLower(w.path), "/providers/microsoft.network/")
	parts := strings.Split(rest, "/")
	switch {
	case parts[0] == "virtualnetworks":
		return l, true // remembered by itself
	case parts[0] == "servicegateways" && len(parts) == 3 && !w.unsure:
		return l.withGateway(parts[2], w.object.List("value")), true
	case !found || w.unsure || len(parts) != 2:
		return l, false
	}
	group = model.LastSegment(group)
	switch parts[0] {
	case "loadbalancers":
		l.balancers = replaceWritten(l.balancers, w)
	case "networksecuritygroups":
		if !l.knows(w.object) {
			return l, false
		}
		l.security = w.object
	case "publicipaddresses":
		l.byGroup = maps.Clone(l.byGroup)
		if _, listed := l.byGroup[group]; listed {
			l.byGroup[group] = replaceWritten(l.byGroup[group], w)
		}
	default: // a private link service changes the load balancer as well
		return l, false
	}
	return l, true
}

// withGateway is a copy in which one of the gateway's lists is as it was written.
func (l lists) withGateway(which string, list []model.Object) lists {
	if which == pathServices {
		l.gateway.Services = list
	} else {
		l.gateway.Locations = list
	}
	return l
}

// knows reports whether a security group names only known addresses. An address that is in
// its rules and in no list would be treated as a leftover, although a Service may just have
// received it.
func (l lists) knows(security model.Object) bool {
	known := map[string]bool{}
	for _, r := range l.security.Props().List(model.ListSecurity) {
		for _, d := range model.Destinations(r) {
			known[d] = true
		}
	}
	onFrontend := map[string]bool{}
	for _, lb := range l.balancers {
		for _, f := range lb.Props().List(model.ListFrontends) {
			known[f.Props().Text("privateIPAddress")] = true
			onFrontend[strings.ToLower(f.Ref("publicIPAddress"))] = true
		}
	}
	for _, group := range l.byGroup {
		for _, ip := range group {
			managed := model.PublicIPOf(ip).Managed()
			if managed || onFrontend[strings.ToLower(ip.Text("id"))] {
				known[ip.Props().Text("ipAddress")] = true
			}
		}
	}
	for _, r := range security.Props().List(model.ListSecurity) {
		if slices.ContainsFunc(model.Destinations(r), func(d string) bool { return !known[d] }) {
			return false
		}
	}
	return true
}

// replaceWritten returns a copy of a list in which a resource is as it was written.
func replaceWritten(list []model.Object, w write) []model.Object {
	out := slices.DeleteFunc(slices.Clone(list), func(o model.Object) bool { return model.SameID(o.Text("id"), w.path) })
	if w.object != nil {
		out = append(out, w.object)
		slices.SortFunc(out, byNameAndID)
	}
	return out
}

// canUseCache reports whether a scope may be answered from the cache. It may not if it
// includes a resource named by the user, which may be newer than the cache. It may not
// either if it wants no load balancer, since the proof that nothing remains needs a new
// read.
func canUseCache(scope providers.Scope, known lists) bool {
	named := func(l providers.Lookup) bool {
		groups := known.byGroup
		switch l.Kind {
		case model.KindPublicIP:
		case model.KindLink:
			groups = known.linksIn
		default:
			return l.Kind == model.KindAccess
		}
		_, listed := groups[strings.ToLower(l.Value)]
		return l.By != model.ByGroup || l.Value != "" && !listed
	}
	wants := func(l providers.Lookup) bool { return l.Kind == model.KindBalancer && l.By == model.ByWanted }
	return slices.ContainsFunc(scope.Facts, wants) && !slices.ContainsFunc(scope.Facts, named)
}
