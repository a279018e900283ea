package wire

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers/azure/model"
)

// edit is the change of pool members of a load balancer by a write to another resource.
type edit struct {
	key      string // of the edited resource; a later edit of it replaces this one
	balancer string // id in lower case
	with     func(model.Object) model.Object
	at       time.Time // when the write had ended
	in       bool      // of a member: it is in the pool
}

// moved records a write to a machine, an interface or the model of a scale set that changes
// the lists only by pool members. The result of a failed write is unknown.
func (s *Session) moved(path string, moves []move, err error) {
	if err != nil {
		s.memory.forgetMember(path)
		s.memory.note(path, nil, err, s.now())
		return
	}
	w := write{path: path, apart: true}
	for _, m := range moves {
		w.edits = append(w.edits, edit{key: strings.ToLower(m.member + " " + m.pool), balancer: balancerOfPool(m.pool), with: m.upon, at: s.now(), in: m.configuration != ""})
	}
	s.memory.enter(w, s.now())
}

// forgetMember forgets how a member stands to pools.
func (m *listMemory) forgetMember(member string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.late, func(key string, _ edit) bool { return strings.HasPrefix(key, strings.ToLower(member)+" ") })
}

// leftAs reports whether this process has left a member in the desired state and has read
// no list since: a step that still wants it is based on an older read.
func (m *listMemory) leftAs(member string, wish membership) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for pool, join := range wish {
		if e, known := m.late[strings.ToLower(member+" "+pool)]; !known || e.in != join || !e.at.After(m.began) {
			return false
		}
	}
	return true
}

// move is how a member stands to a pool after a write.
type move struct {
	member, pool  string // ids
	configuration string // id of the member's ip configuration that is in the pool; "": none is
}

// movesOf are the moves of a member whose wish was fulfilled.
func movesOf(id string, wish membership, written model.Object, configuration func(id string, written model.Object, pool string) (model.Object, string)) []move {
	var out []move
	for pool := range wish {
		m := move{member: id, pool: pool}
		if c, of := configuration(id, written, model.LastSegment(pool)); c != nil && inPool(c, pool) {
			m.configuration = of
		}
		out = append(out, m)
	}
	return out
}

// upon is a load balancer as it is after the move.
func (m move) upon(balancer model.Object) model.Object {
	return withPool(balancer, model.LastSegment(m.pool), func(pool model.Object) model.Object {
		p := maps.Clone(pool.Props())
		if p == nil {
			p = model.Object{}
		}
		members := slices.DeleteFunc(p.List(model.ListMembers), func(o model.Object) bool {
			return strings.HasPrefix(strings.ToLower(o.Text("id")), strings.ToLower(m.member)+"/")
		})
		if m.configuration != "" {
			members = append(members, model.IDObject(m.configuration))
		}
		p.SetList(model.ListMembers, members)
		out := maps.Clone(pool)
		out["properties"] = map[string]any(p)
		return out
	})
}

// withPool is a load balancer with one of its pools changed; neither it nor its pools are
// written to.
func withPool(balancer model.Object, name string, change func(model.Object) model.Object) model.Object {
	pools := balancer.Props().List(model.ListPools)
	i := model.Named(pools, name)
	if i < 0 {
		return balancer
	}
	pools[i] = change(pools[i])
	p := maps.Clone(balancer.Props())
	p.SetList(model.ListPools, pools)
	out := maps.Clone(balancer)
	out["properties"] = map[string]any(p)
	return out
}

// poolEdit returns the edit for a write of a pool; false for any other write.
func poolEdit(w write, at time.Time) (edit, bool) {
	balancer := balancerOfPool(w.path)
	if balancer == "" || w.unsure || w.object == nil {
		return edit{}, false
	}
	upon := func(lb model.Object) model.Object {
		return withPool(lb, model.LastSegment(w.path), func(model.Object) model.Object { return w.object })
	}
	return edit{key: strings.ToLower(w.path), balancer: balancer, with: upon, at: at}, true
}

// balancerOfPool is the id, in lower case, of the load balancer of a pool; "" if the id is of
// something else.
func balancerOfPool(id string) string {
	balancer, pool, found := strings.Cut(strings.ToLower(id), "/"+strings.ToLower(model.ListPools)+"/")
	if !found || strings.Contains(pool, "/") {
		return ""
	}
	return balancer
}

// edited is a copy of the lists after edits.
func (l lists) edited(edits []edit) lists {
	for _, e := range edits {
		i := slices.IndexFunc(l.balancers, func(o model.Object) bool { return model.SameID(o.Text("id"), e.balancer) })
		if i >= 0 {
			l.balancers = slices.Clone(l.balancers)
			l.balancers[i] = e.with(l.balancers[i])
		}
	}
	return l
}

// since is a load balancer as a write has shown it that began at a moment, with all edits
// that ended after that: it may be from before them. The lock is held.
func (m *listMemory) since(began time.Time, path string, balancer model.Object) model.Object {
	maps.DeleteFunc(m.late, func(_ string, e edit) bool { return began.Sub(e.at) > patience })
	for _, e := range slices.SortedFunc(maps.Values(m.late), func(a, b edit) int { return a.at.Compare(b.at) }) {
		if model.SameID(e.balancer, path) && !e.at.Before(began) {
			balancer = e.with(balancer)
		}
	}
	return balancer
}
