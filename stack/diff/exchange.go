package diff

import (
	"maps"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Exchange returns the orders of ports of a kind where rules admit clients to backends, whichever
// port they use. A port that gets another number and keeps its backends cannot serve its new
// clients beside the old port with the old ones: the rules of both would serve both. Shuts selects
// the steps by which the clients of an old port are admitted no longer, and opens those by which
// the clients of a new one are. The old port is closed first. Where a step of the exchange is
// refused, all of it is undone: its clients are admitted again.
func Exchange(port stack.Kind, shuts, opens Match) []Edge {
	return []Edge{
		{First: Match{Action: plan.Delete, Kind: port}, Then: opens, Soft: true, exchange: replaces, Reason: "a port that closes is not opened to more clients before"},
		{First: shuts, Then: Match{Action: plan.Create, Kind: port}, Soft: true, exchange: closes, Reason: "a new port does not admit the clients of an old one"},
	}
}

// exchange is the part of an edge in an exchange.
type exchange int

const (
	noExchange exchange = iota
	// closes edges begin an exchange: nothing serves between the two steps.
	closes
	// replaces edges belong to an exchange that another one begins. Without that the new port
	// serves clients of the old one as well.
	replaces
)

// trade is two steps of an exchange: the second one is of no use without the first, and the
// first one takes from clients what the second one gives.
type trade struct {
	first, then int
	kind        exchange
}

// noteExchange records the steps that an edge orders. Each step is recorded once as the first and once as the second.
func (c *comparison) noteExchange(e *Edge, then int, first []int) {
	if e.exchange == noExchange {
		return
	}
	for at, i := range first {
		known := slices.ContainsFunc(c.trades, func(t trade) bool { return t.first == i })
		if i != then && (at == 0 || !known) {
			c.trades = append(c.trades, trade{i, then, e.exchange})
		}
	}
}

// pairExchange makes replacements of the steps of an exchange.
func (c *comparison) pairExchange() {
	if !slices.ContainsFunc(c.trades, func(t trade) bool { return t.kind == closes }) {
		c.trades = nil
	}
	for _, t := range c.trades {
		old, made := &c.steps[t.first], &c.steps[t.then]
		pair := plan.Pair{Create: made.ID, Delete: old.ID, Order: plan.DeleteFirst, Restore: c.canRestore(c.have.byKey[old.ID.Key])}
		for _, s := range []*plan.Step{old, made} {
			if s.Pair.IsZero() {
				s.Pair = pair
			}
		}
		old.Impact = plan.Interrupts
	}
	c.closeLate()
}

// closeLate orders the beginning of an exchange behind everything else that its steps need: where
// one of these is refused, nothing is closed.
func (c *comparison) closeLate() {
	graph := plan.NewGraph(c.steps)
	var closing, needs []int
	for _, t := range c.trades {
		if t.kind == closes && !slices.Contains(closing, t.first) {
			closing = append(closing, t.first)
		}
		needs = slices.Concat(needs, graph.Needs[t.first], graph.Needs[t.then])
	}
	for i := 0; i < len(needs); i++ { // of barriers, the steps
		if needs[i] >= graph.Steps {
			needs = append(needs, graph.Needs[needs[i]]...)
		}
	}
	slices.Sort(needs)
	c.behind(graph, closing, slices.Compact(needs))
}

// undoExchange has all of an exchange undone where one of its steps is refused. What its old
// resources use exists until the exchange is complete.
func (c *comparison) undoExchange() {
	members, used := map[int]bool{}, map[stack.Key]bool{}
	var pairs []plan.Pair
	for _, t := range c.trades {
		members[t.first], members[t.then] = true, true
		maps.Copy(used, c.usedBy(c.have.byKey[c.steps[t.first].ID.Key]))
		for _, i := range []int{t.first, t.then} {
			if pair := c.steps[i].Pair; pair.Restore && !slices.Contains(pairs, pair) {
				pairs = append(pairs, pair)
			}
		}
	}
	for _, i := range slices.Sorted(maps.Keys(members)) {
		id := c.steps[i].ID
		if c.steps[i].Pair.Create == id && !c.steps[i].Pair.Restore {
			continue // what it replaces cannot be restored
		}
		c.undoes(i, slices.DeleteFunc(slices.Clone(pairs), func(p plan.Pair) bool { return p.Create == id || p.Delete == id }))
		if c.steps[i].Pair.Create != id {
			continue
		}
		before := plan.NewGraph(c.steps).Before([]int{i})
		for j := range c.steps {
			if t := &c.steps[j]; t.ID.Action == plan.Delete && used[t.ID.Key] && !members[j] && !before[j] {
				t.Needs = append(t.Needs, id)
			}
		}
	}
}
