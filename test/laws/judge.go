package laws

import (
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
)

// expectation is what the laws demand of every run of some moves.
type expectation struct {
	before, wanted []traffic.Flow
	shapes         map[shape]int  // of wanted
	today          []traffic.Flow // before, with the nodes of today behind it
	needs          []need
	exact          map[traffic.ID][]netip.Prefix // clients that may reach addresses that exist before or after
	ports          map[port][]netip.Prefix       // clients that may reach a port at any other address
}

// port is a flow without its address.
type port struct {
	owner    stack.Owner
	family   traffic.Family
	number   uint16
	protocol string
}

func portOf(f traffic.Flow) port { return port{f.Owner, f.Family, f.Port, f.Protocol} }

// need is clients that must be served all the time.
type need struct {
	flow  traffic.Flow // as it was before
	from  []netip.Prefix
	exact bool // at the same address
}

// Violation is a law that a run has broken.
type Violation struct {
	Law      Law
	Scenario Scenario
	Detail   string
	Before   []traffic.Flow
	Wanted   []traffic.Flow
	Left     []traffic.Flow
	Steps    []plan.Step
	Clashes  []string
}

// expectationOf derives the demands from the flows before and after an undisturbed run.
func expectationOf(before, today, wanted []traffic.Flow) *expectation {
	e := &expectation{before: before, wanted: wanted, shapes: shapesOf(wanted), today: today, exact: map[traffic.ID][]netip.Prefix{}, ports: map[port][]netip.Prefix{}}
	after := map[port][]netip.Prefix{}
	stays := map[traffic.ID]traffic.Flow{}
	for _, f := range wanted {
		if f.Serves() {
			after[portOf(f)] = traffic.Union(after[portOf(f)], f.From)
			stays[f.ID()] = f
		}
	}
	for _, list := range [][]traffic.Flow{before, wanted} {
		for _, f := range list {
			e.exact[f.ID()] = traffic.Union(e.exact[f.ID()], f.From)
			e.ports[portOf(f)] = traffic.Union(e.ports[portOf(f)], f.From)
		}
	}
	for _, f := range before {
		n := need{flow: f, from: traffic.Intersect(f.From, after[portOf(f)])}
		if same, ok := stays[f.ID()]; ok {
			n.exact, n.from = true, traffic.Intersect(f.From, same.From)
		}
		if f.Serves() && len(n.from) > 0 {
			e.needs = append(e.needs, n)
		}
	}
	return e
}

// verdict is what one state means for an expectation.
type verdict struct {
	of        *expectation
	served    []bool // by need
	opened    string // what is open to clients that must not be admitted; empty: nothing
	asDesired bool   // but for addresses that the cloud chooses
}

// verdict judges the state once.
func (x *run) verdict() *verdict {
	if v := x.world.memo.verdict; v != nil && v.of == x.expected {
		return v
	}
	now := x.flows()
	v := &verdict{of: x.expected, served: make([]bool, len(x.expected.needs)), asDesired: maps.Equal(shapesOf(now), x.expected.shapes)}
	for i, n := range x.expected.needs {
		v.served[i] = isServed(n, now)
	}
	for _, f := range now {
		if may := x.expected.clientsOf(f, x.subject.AdmitsPorts); !traffic.Contains(may, f.From) {
			v.opened = fmt.Sprintf("%s of %s is open to %s", f.Name(), f.Owner, traffic.RangesText(traffic.Subtract(f.From, may)))
			break
		}
	}
	x.world.memo.verdict = v
	return v
}

// judge holds the traffic after a step against the laws of every prefix: what is served, and
// that no client is let in that is let in neither before nor as desired. A step that makes room
// for one that a quota refuses interrupts what it ends.
func (x *run) judge(s plan.Step, makesRoom bool) {
	if x.expected == nil {
		return
	}
	v := x.verdict()
	for i, n := range x.expected.needs {
		switch {
		case v.served[i]:
			x.excused[i] = false
		case x.excused[i]:
		case (makesRoom || s.Impact != plan.NoImpact) && s.ID.Owner == n.flow.Owner:
			x.excused[i] = true
		default:
			x.violate(NothingLost, x.flows(), "%s is lost after %s", n.flow.Name(), s.ID)
		}
	}
	if v.opened != "" {
		x.violate(NothingOpened, x.flows(), "%s after %s", v.opened, s.ID)
	}
}

// clientsOf returns the clients that a flow may have. What leads nowhere has no owner for
// sure: there, it is those of any Service at the port of the address.
func (e *expectation) clientsOf(f traffic.Flow, admitsPorts bool) []netip.Prefix {
	may, known := e.exact[f.ID()]
	if !known || admitsPorts {
		may = e.ports[portOf(f)]
	}
	if f.Serves() {
		return may
	}
	for id, from := range e.exact {
		if id.Address == f.Address && id.Family == f.Family && id.Port == f.Port && id.Protocol == f.Protocol {
			may = traffic.Union(may, from)
		}
	}
	return may
}

// isServed reports whether the clients of a need reach backends.
func isServed(n need, now []traffic.Flow) bool {
	var from []netip.Prefix
	for _, f := range now {
		if f.Serves() && portOf(f) == portOf(n.flow) && (!n.exact || f.Address == n.flow.Address) {
			if traffic.Contains(f.From, n.from) {
				return true
			}
			from = append(from, f.From...)
		}
	}
	return len(from) > 0 && traffic.Contains(from, n.from)
}

// judgeRest holds the traffic against the laws once nothing changes any more, while the
// refusals last.
func (x *run) judgeRest(settled bool) {
	if x.expected == nil {
		return
	}
	now := x.flows()
	if !settled {
		x.violate(Settles, now, "it keeps changing")
	}
	served := x.verdict().served
	for i, n := range x.expected.needs {
		if !served[i] && !x.rebuilt(n) {
			x.violate(NothingLost, now, "%s is lost for as long as the refusal lasts", n.flow.Name())
		}
	}
	x.judgeSuccessors(now)
	for _, f := range now {
		if x.deleted(f.Owner) {
			x.judgeDeleted(f, now)
		} else {
			x.judgeBackends(f, now)
		}
	}
}

// judgeSuccessors demands that a port which is not desired any more serves for as long as a
// new port of its Service does not.
func (x *run) judgeSuccessors(now []traffic.Flow) {
	serves := func(f traffic.Flow, list []traffic.Flow) bool {
		return slices.ContainsFunc(list, func(g traffic.Flow) bool {
			return g.Serves() && portOf(g) == portOf(f) && len(traffic.Subtract(g.From, x.subject.Probes)) > 0
		})
	}
	for _, old := range x.expected.before {
		if !old.Serves() || serves(old, x.expected.wanted) || serves(old, now) || x.rebuilt(need{flow: old}) {
			continue
		}
		for _, f := range x.expected.successors(old) {
			if !serves(f, x.expected.before) && !serves(f, now) {
				x.violate(NothingLost, now, "%s is closed, although its successor %s does not serve", old.Name(), f.Name())
			}
		}
	}
}

// successors returns the desired flows that may succeed an old one: those of its family, or
// of the other one if the Service is to have that alone.
func (e *expectation) successors(old traffic.Flow) []traffic.Flow {
	var same, other []traffic.Flow
	for _, f := range e.wanted {
		switch {
		case f.Owner != old.Owner || !f.Serves():
		case f.Family == old.Family:
			same = append(same, f)
		default:
			other = append(other, f)
		}
	}
	if len(same) > 0 {
		return same
	}
	return other
}

// rebuilt reports whether what served before was replaced by a step that the plan marks as
// interrupting, and only a part of the new resource is refused.
func (x *run) rebuilt(n need) bool {
	for i, r := range x.scenario.Refuse {
		if x.met[i] > 0 && slices.ContainsFunc(x.steps, func(s plan.Step) bool {
			return s.ID.Action == plan.Create && s.Reason == plan.Replaced && s.Impact == plan.Interrupts && s.ID.Owner == r.Step.Owner &&
				slices.Contains(n.flow.Through, s.ID.Key) && x.within(r, s.ID.Key)
		}) {
			return true
		}
	}
	return false
}

// within reports whether a refused step is of a part of a resource.
func (x *run) within(r Refusal, of stack.Key) bool {
	for in := r.In; in != (stack.Key{}); {
		if in == of {
			return true
		}
		parent := x.world.current(r.Step.Owner, in)
		if parent == nil {
			return false
		}
		in = parent.r.In
	}
	return false
}

func (x *run) deleted(o stack.Owner) bool {
	return slices.ContainsFunc(x.scenario.Moves, func(m Move) bool { return m.Owner == o && m.To < 0 })
}

// judgeDeleted demands that a flow of a deleted Service is as it was, if it exists. It has the
// backends of today where it shares them with a neighbour that has replaced them.
func (x *run) judgeDeleted(f traffic.Flow, now []traffic.Flow) {
	wasServed, served := false, false
	for _, list := range [][]traffic.Flow{x.expected.before, x.expected.today} {
		for _, was := range list {
			if was.ID() == f.ID() && was.Serves() {
				wasServed = true
				served = served || slices.Equal(was.From, f.From) && (slices.Equal(was.To, f.To) || x.isRefused(f))
			}
		}
	}
	if wasServed && !served {
		x.violate(WholeDeletion, now, "%s still exists, but does not serve as before", f.Name())
	}
}

// judgeBackends demands that a flow has the backends of today, unless what holds them was
// refused. Those of the old and of the new ports of nodes may stand side by side.
func (x *run) judgeBackends(f traffic.Flow, now []traffic.Flow) {
	if len(f.To) == 0 {
		return
	}
	var permitted []traffic.Backend
	whole := false
	for _, list := range [][]traffic.Flow{x.expected.wanted, x.expected.today} {
		for _, g := range list {
			if portOf(g) == portOf(f) && len(g.To) > 0 {
				permitted = append(permitted, g.To...)
				whole = whole || hasBackends(f.To, g.To)
			}
		}
	}
	follows := whole && hasBackends(permitted, f.To)
	if len(permitted) > 0 && !follows && !x.isRefused(f) && !x.followsSelection(f) {
		x.violate(Backends, now, "%s has other backends than today's", f.Name())
	}
}

// hasBackends reports whether a list has all backends of another one.
func hasBackends(list, of []traffic.Backend) bool {
	return !slices.ContainsFunc(of, func(b traffic.Backend) bool { return !slices.Contains(list, b) })
}

// followsSelection reports whether a flow that is not desired any more has the nodes that are
// behind the desired flows of its Service: a move may select other nodes.
func (x *run) followsSelection(f traffic.Flow) bool {
	return slices.ContainsFunc(x.expected.wanted, func(g traffic.Flow) bool {
		return g.Owner == f.Owner && g.Family == f.Family && portOf(g) != portOf(f) && slices.EqualFunc(f.To, g.To, func(a, b traffic.Backend) bool { return a.Name == b.Name })
	}) && !slices.ContainsFunc(x.expected.wanted, func(g traffic.Flow) bool { return portOf(g) == portOf(f) })
}

// isRefused reports whether a step that writes the backends of a flow is refused.
func (x *run) isRefused(f traffic.Flow) bool {
	for i, r := range x.scenario.Refuse {
		if !r.Once && x.met[i] > 0 && x.subject.Rules.Kinds[r.Step.Key.Kind].FollowsBackends && x.isThrough(f, r) {
			return true
		}
	}
	return false
}

// isThrough reports whether a flow needs the resource of a refused step, which may have another
// key by now.
func (x *run) isThrough(f traffic.Flow, r Refusal) bool {
	return slices.ContainsFunc(f.Through, func(k stack.Key) bool {
		now, exists := x.world.Observed(f.Owner).Get(k)
		return k == r.Step.Key || exists && k.Kind == r.Step.Key.Kind && r.ID != "" && now.ID == r.ID
	})
}

// judgeEnd demands that the traffic is as desired once nothing is refused any more, and that
// nothing is left to do.
func (x *run) judgeEnd(settled bool) {
	if x.expected == nil {
		return
	}
	now := x.flows()
	if !settled {
		x.violate(Settles, now, "it keeps changing")
		return
	}
	if x.stuck {
		x.violate(Settles, now, "the cloud refuses the remaining steps")
	}
	if !x.verdict().asDesired {
		x.violate(Settles, now, "the traffic is not as desired in the end")
	}
	for _, m := range x.scenario.Moves {
		if left := x.world.Observed(m.Owner); m.To < 0 && slices.ContainsFunc(left.Resources, func(r stack.Resource) bool { return r.Ownership == stack.Owned }) {
			x.violate(Settles, now, "resources of %s are left", m.Owner)
		}
	}
}

// shape is a flow without an address that the cloud has chosen.
type shape struct {
	at   port
	from string
	to   string
}

func shapesOf(flows []traffic.Flow) map[shape]int {
	out := map[shape]int{}
	for _, f := range flows {
		var from, to []byte
		for _, p := range f.From {
			from = append(p.AppendTo(from), ' ')
		}
		for _, b := range f.To {
			to = strconv.AppendUint(append(append(to, b.Name...), ':'), uint64(b.Port), 10)
			to = append(to, ' ')
		}
		out[shape{portOf(f), string(from), string(to)}]++
	}
	return out
}

// violate records the first violation of a law.
func (x *run) violate(law Law, left []traffic.Flow, format string, args ...any) {
	if slices.ContainsFunc(x.broken, func(v Violation) bool { return v.Law == law }) {
		return
	}
	x.broken = append(x.broken, Violation{
		Law: law, Scenario: x.scenario, Detail: fmt.Sprintf(format, args...), Before: x.expected.before, Wanted: x.expected.wanted, Left: left,
		Steps: slices.Clone(x.steps), Clashes: slices.Clone(x.clashes),
	})
}

func sameSpec(a, b stack.Spec) bool { return reflect.DeepEqual(a, b) }
