package laws

import (
	"hash/fnv"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
)

// Bounds limit the runs of a sweep. Runs beyond a bound are sampled, the same ones every time.
type Bounds struct {
	Moves int // moves of one Service, and again of Services with neighbours; 0: all
	Pairs int // pairs of refusals of one move; 0: all
	// Also lists descriptions of moves that are run whatever the sample is.
	Also []string
	// Only lists parts of descriptions of moves, such as "web: plain -> udp"; empty: all moves.
	Only []string
}

// Coverage counts what a sweep has run.
type Coverage struct {
	Moves, AllMoves int // run, and possible
	Pairs, AllPairs int
	Runs            int
	Violations      []Violation // shrunk; one of each kind
}

// sweep runs the scenarios of a subject.
type sweep struct {
	subject  *Subject
	bounds   Bounds
	coverage Coverage
	seen     map[string]bool // kinds of violations
	starts   map[string]*World
	origin   *World            // where the runs of the moves begin that were asked for last
	moved    string            // names these moves
	known    []map[string]bool // by exception: the moves in which it occurred
	mutation bool              // ends at the first violation
	plans    *plannings        // of all runs; nil: they are not recorded
	skips    func(moves string) bool
}

// Check runs all moves, deletions and shared moves of a subject with refusals, and fails
// for every kind of violation that is not known, and for every known one that does not occur.
// It calls [CheckPreview] and [CheckRanges], too. With BERTH_LAWS=all in the environment nothing is sampled, and
// a number there is that of moves.
func Check(t *testing.T, s *Subject, b Bounds) Coverage {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(1600)) // runs leave much garbage, and keep little
	b = b.asAsked()
	w := newSweep(s, b)
	w.all()
	for _, v := range w.coverage.Violations {
		t.Errorf("%s", s.Report(v))
	}
	for i, k := range s.Known {
		switch in := slices.Sorted(maps.Keys(w.known[i])); len(in) {
		case 0:
			t.Errorf("known violation does not occur any more; remove it: %s", s.knownText(k))
		default:
			t.Logf("known violation in %d moves, such as %s: %s", len(in), strings.Join(in[:min(len(in), 30)], " | "), s.knownText(k))
		}
	}
	CheckPreview(t, s, b.Moves)
	CheckRanges(t, s)
	c := w.coverage
	t.Logf("%s: %d of %d moves, %d of %d pairs of refusals, %d runs", s.Name, c.Moves, c.AllMoves, c.Pairs, c.AllPairs, c.Runs)
	return c
}

// asAsked returns the bounds that the environment asks for.
func (b Bounds) asAsked() Bounds {
	switch n, err := strconv.Atoi(os.Getenv("BERTH_LAWS")); {
	case os.Getenv("BERTH_LAWS") == "all":
		return Bounds{Only: b.Only}
	case err == nil:
		b.Moves = n
	}
	return b
}

func newSweep(s *Subject, b Bounds) *sweep {
	s.Rules = s.Rules.WithOrders()
	return &sweep{subject: s, bounds: b, seen: map[string]bool{}, starts: map[string]*World{}, known: make([]map[string]bool, len(s.Known))}
}

// maxOwners is the number of Services of a run, at most.
const maxOwners = 3

// ownerNames lists the names of the Services of the runs.
func ownerNames() []string { return []string{"web", "api", "log"} }

// OwnerOf returns the Service number i of the runs.
func OwnerOf(i int) stack.Owner {
	return stack.Owner{Namespace: "shop", Name: ownerNames()[i], UID: string(rune('1'+i)) + "0000000-0000-4000-8000-000000000000"} // clouds cut it at the end
}

// indexOf returns the number of a Service, which its UID begins with.
func indexOf(o stack.Owner) int { return int(o.UID[0] - '1') }

func (w *sweep) all() {
	for _, list := range [][][]Move{w.alone(), w.shared()} {
		describe := func(m []Move) string { return w.subject.describe(Scenario{Moves: m}) }
		list = slices.DeleteFunc(list, func(m []Move) bool {
			return len(w.bounds.Only) > 0 && !slices.ContainsFunc(w.bounds.Only, func(part string) bool { return strings.HasPrefix(describe(m), part) })
		})
		picked := w.pick(list, describe)
		w.coverage.AllMoves += len(list)
		w.coverage.Moves += len(picked)
		for _, moves := range picked {
			if w.skips != nil && w.skips(describe(moves)) {
				continue
			}
			if w.plans != nil {
				w.plans.at = describe(moves)
			}
			if w.move(moves); w.done() {
				return
			}
		}
	}
}

// pick returns the moves of a list that are run: a sample, and the ones in Also.
func (w *sweep) pick(list [][]Move, describe func([]Move) string) [][]Move {
	picked := sampleOf(list, w.bounds.Moves, describe)
	for _, moves := range list {
		isPicked := func(other []Move) bool { return slices.Equal(other, moves) }
		if slices.Contains(w.bounds.Also, describe(moves)) && !slices.ContainsFunc(picked, isPicked) {
			picked = append(slices.Clone(picked), moves)
		}
	}
	return picked
}

func (w *sweep) done() bool { return w.mutation && len(w.coverage.Violations) > 0 }

// alone lists the moves of one Service from each case to each other, its creation, its
// deletion, and the change of nodes alone.
func (w *sweep) alone() [][]Move {
	var out [][]Move
	for from := -1; from < len(w.subject.Cases); from++ {
		for to := -1; to < len(w.subject.Cases); to++ {
			if from >= 0 || to >= 0 {
				out = append(out, []Move{{OwnerOf(0), from, to}})
			}
		}
	}
	return out
}

// shared lists the moves of a Service beside one or two others that stay.
func (w *sweep) shared() [][]Move {
	index := func(name string) int {
		return slices.IndexFunc(w.subject.Cases, func(c Case) bool { return c.Name == name })
	}
	beside := map[int][]int{} // by the case that stays
	for _, p := range w.subject.Neighbours {
		beside[index(p[1])] = append(beside[index(p[1])], index(p[0]))
	}
	var out [][]Move
	for _, stays := range sortedKeys(beside) {
		for _, from := range append([]int{-1}, beside[stays]...) {
			for _, to := range append([]int{-1}, beside[stays]...) {
				if from < 0 && to < 0 {
					continue
				}
				pair := []Move{{OwnerOf(0), from, to}, {OwnerOf(1), stays, stays}}
				out = append(out, pair)
				for _, third := range beside[stays] {
					if both := beside[third]; (from < 0 || slices.Contains(both, from)) && (to < 0 || slices.Contains(both, to)) {
						out = append(out, append(slices.Clone(pair), Move{OwnerOf(2), third, third}))
					}
				}
			}
		}
	}
	return out
}

// start returns the cloud in which every Service of the moves is as before.
func (w *sweep) start(moves []Move) *World {
	key, all := "", ""
	var before []Move
	for _, m := range moves {
		before = append(before, Move{m.Owner, m.From, m.From})
		key += "/" + w.subject.caseName(m.From)
		all += "/" + w.subject.caseName(m.From) + "/" + w.subject.caseName(m.To)
	}
	if w.origin != nil && all == w.moved {
		return w.origin
	}
	if w.starts[key] == nil {
		w.startFrom(before, key)
	}
	w.origin, w.moved = w.starts[key].origin(), all
	return w.origin
}

// startFrom reaches the state before some moves from an empty cloud.
func (w *sweep) startFrom(before []Move, key string) {
	if w.plans != nil {
		at := w.plans.at
		w.plans.at = ""
		defer func() { w.plans.at = at }()
	}
	x := &run{subject: w.subject, world: NewWorld(w.subject), scenario: Scenario{Moves: before, Open: true}, day: Before}
	x.perform()
	w.starts[key] = x.world.origin() // without what was computed on the way
}

// run performs a scenario.
func (w *sweep) run(c Scenario, e *expectation) *run {
	x := &run{subject: w.subject, scenario: c, world: w.start(c.Moves), expected: e, day: Today}
	if e != nil {
		x.excused = make([]bool, len(e.needs))
	}
	x.perform()
	w.coverage.Runs++
	w.record(x)
	return x
}

// move runs all scenarios of some moves.
func (w *sweep) move(moves []Move) {
	reference, e := w.reference(moves)
	for _, c := range w.scenarios(moves, reference) {
		if w.run(c, e); w.done() {
			return
		}
	}
}

// reference runs the moves undisturbed, and returns what was done and what it demands of
// other runs.
func (w *sweep) reference(moves []Move) (*run, *expectation) {
	first := &run{subject: w.subject, scenario: Scenario{Moves: moves}, world: w.start(moves), day: Today}
	before := first.flows()
	first.perform()
	same := slices.Clone(moves)
	for i := range same {
		same[i].To = same[i].From
	}
	still := &run{subject: w.subject, scenario: Scenario{Moves: same, Open: true}, world: w.start(moves), day: Today}
	still.perform()
	return first, expectationOf(before, still.flows(), first.flows())
}

// scenarios lists the runs of some moves whose undisturbed run is known.
func (w *sweep) scenarios(moves []Move, reference *run) []Scenario {
	steps := reference.steps
	out := []Scenario{{Moves: moves}, {Moves: moves, Order: DeletesFirst}, {Moves: moves, Order: Reverse}, {Moves: moves, Forgets: true, Open: true}}
	for i, s := range steps {
		out = append(out, Scenario{Moves: moves, First: s.ID}, Scenario{Moves: moves, Restart: i + 1})
		always := func(h How) Refusal { return refusalFor(s, h) }
		once := func(h How) []Refusal { r := always(h); r.Once = true; return []Refusal{r} }
		refused := []Refusal{always(Refused)}
		out = append(out,
			Scenario{Moves: moves, Refuse: refused},
			Scenario{Moves: moves, Refuse: refused, Order: DeletesFirst},
			Scenario{Moves: moves, Refuse: refused, Order: Reverse, Quota: true},
			Scenario{Moves: moves, Refuse: refused, Forgets: true, Open: true},
			Scenario{Moves: moves, Refuse: refused, Restart: i + 1},
			Scenario{Moves: moves, Refuse: []Refusal{always(Lost)}},
			Scenario{Moves: moves, Refuse: once(Refused), Order: DeletesFirst},
			Scenario{Moves: moves, Refuse: once(Lost)},
			Scenario{Moves: moves, Refuse: once(Unanswered), Order: DeletesFirst},
			Scenario{Moves: moves, Refuse: once(Slow)},
			Scenario{Moves: moves, Refuse: []Refusal{always(Held)}, Order: DeletesFirst},
		)
		if i > 0 {
			out = append(out, Scenario{Moves: moves, Refuse: refused, Restart: i}) // before the step is tried
		}
	}
	var pairs []Scenario
	for i, s := range steps {
		for _, t := range steps[i+1:] {
			both := []Refusal{refusalFor(s, Refused), refusalFor(t, Refused)}
			pairs = append(pairs, Scenario{Moves: moves, Refuse: both, Order: Order(len(pairs) % 3)})
		}
	}
	picked := sampleOf(pairs, w.bounds.Pairs, w.subject.describe)
	w.coverage.AllPairs += len(pairs)
	w.coverage.Pairs += len(picked)
	return append(out, picked...)
}

func refusalFor(s plan.Step, h How) Refusal {
	return Refusal{Step: s.ID, ID: s.Target.ID, In: s.Target.In, Spec: s.Target.Spec, How: h}
}

// sampleOf picks so many members of a list, the same ones every time, in order. 0: all.
func sampleOf[T any](list []T, most int, name func(T) string) []T {
	if most == 0 || len(list) <= most {
		return list
	}
	type ranked struct {
		at   int
		hash uint32
	}
	all := make([]ranked, len(list))
	for i, v := range list {
		h := fnv.New32a()
		_, _ = h.Write([]byte(name(v))) // never fails
		all[i] = ranked{i, h.Sum32()}
	}
	slices.SortFunc(all, func(a, b ranked) int { return int(int64(a.hash) - int64(b.hash)) })
	all = all[:most]
	slices.SortFunc(all, func(a, b ranked) int { return a.at - b.at })
	out := make([]T, most)
	for i, r := range all {
		out[i] = list[r.at]
	}
	return out
}

func sortedKeys(m map[int][]int) []int {
	var out []int
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// record keeps one violation of each kind: the law, the steps that were refused, and the
// step after which it broke.
func (w *sweep) record(x *run) {
	for _, v := range x.broken {
		if at := w.subject.isKnown(v); at >= 0 {
			if w.known[at] == nil {
				w.known[at] = map[string]bool{}
			}
			w.known[at][w.subject.describe(Scenario{Moves: x.scenario.Moves})] = true
			continue
		}
		kind := kindOf(v)
		if w.seen[kind] {
			continue
		}
		w.seen[kind] = true
		if v = w.shrink(v); !slices.ContainsFunc(w.coverage.Violations, func(o Violation) bool { return kindOf(o) == kindOf(v) }) {
			w.coverage.Violations = append(w.coverage.Violations, v)
		}
	}
}

// kindOf names violations that have one cause, as far as can be said.
func kindOf(v Violation) string {
	parts := []string{string(v.Law)}
	for _, r := range v.Scenario.Refuse {
		parts = append(parts, string(r.Step.Action)+" "+string(r.Step.Key.Kind)+" "+r.Step.Part)
	}
	if len(v.Scenario.Refuse) == 0 && len(v.Steps) > 0 {
		last := v.Steps[len(v.Steps)-1].ID
		parts = append(parts, "after "+string(last.Action)+" "+string(last.Key.Kind))
	}
	return strings.Join(parts, "; ")
}

// Flows returns what the cloud of a world lets through.
func (w *World) Flows() []traffic.Flow { return (&run{subject: w.subject, world: w}).flows() }
