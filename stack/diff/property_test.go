package diff_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/test/mutate"
)

// randomStack returns a stack that a provider could build: references lead to resources
// in it, parts have their parent, no slot is taken twice.
func randomStack(r *rand.Rand) *stack.Stack {
	out := &stack.Stack{Owner: me}
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	some := func(of ...string) []string {
		return slices.DeleteFunc(slices.Clone(of), func(string) bool { return r.IntN(2) == 0 })
	}
	var groups []string
	for _, g := range some("1", "2", "3") {
		groups = append(groups, g)
		out.Put(ownedResource(newKey("group", g), stack.Key{}, group{Port: r.IntN(2), Check: one("a", "b")}))
		out.Put(ownedResource(newKey("targets", g), newKey("group", g), targets{IDs: some("a", "b", "c", "d", "e")}))
	}
	for _, p := range some("80", "81", "82") {
		out.Put(ruleFor(p))
	}
	if r.IntN(2) == 0 {
		out.Put(ownedResource(newKey("address", ""), stack.Key{}, address{Name: one("x", "y")}))
	}
	if r.IntN(5) == 0 {
		return out
	}
	out.Put(ownedResource(theLB, stack.Key{}, lb{Scheme: one("public", "private"), Tags: some("t", "u"), Zones: []string{one("1a", "1b")}, Note: one("m", "n")}))
	for _, l := range some("1", "2", "3") {
		if len(groups) > 0 {
			out.Put(withSlot(ownedResource(newKey("listener", l), theLB, listener{Protocol: one("TCP", "UDP"), To: newRef("group", one(groups...))}), one("port ", "extra port ")+l))
		}
	}
	if r.IntN(2) == 0 {
		out.Put(ownedResource(newKey("attrs", ""), theLB, attrs{Idle: 30 * (1 + r.IntN(3))}))
	}
	if r.IntN(2) == 0 {
		out.Put(ownedResource(newKey("pool", ""), theLB, pool{Method: one("rr", "lc")}))
		out.Put(ownedResource(newKey("check", ""), newKey("pool", ""), check{Path: one("/", "/h"), Pool: newRef("pool", "")}))
	}
	if r.IntN(2) == 0 {
		out.Put(ownedResource(newKey("loose", ""), theLB, address{Name: one("x", "y")}))
	}
	return out
}

// slotsAsFields makes a listener's place a part of its policy, so that what
// differs in place differs in its spec, as it does in a cloud.
func slotsAsFields(s *stack.Stack) *stack.Stack {
	for _, r := range s.Resources {
		if l, ok := r.Spec.(listener); ok {
			l.Policy = r.Slot
			r.Spec = l
			s.Put(r)
		}
	}
	return s
}

func shuffleStack(r *rand.Rand, s *stack.Stack) *stack.Stack {
	out := s.Clone()
	r.Shuffle(len(out.Resources), func(i, j int) {
		out.Resources[i], out.Resources[j] = out.Resources[j], out.Resources[i]
	})
	return out
}

const rounds = 1500

// TestAnyStackIntoAnyOther runs plans step by step through a world that refuses
// what a cloud would refuse.
func TestAnyStackIntoAnyOther(t *testing.T) {
	for seed := range uint64(rounds) {
		for name, rules := range map[string]diff.Rules{"edges": toyRules(), "roles": toyRoles()} {
			if err := replaceStack(rand.New(rand.NewPCG(seed, 1)), rules); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
		}
	}
}

// FuzzCompare is the same for stacks that a fuzzer chooses.
func FuzzCompare(f *testing.F) {
	for seed := range byte(16) {
		mutate.Add(f, 40, []byte{seed * 16, 255, 0, 128, 255 - seed, seed, 77, 200, 3, 90, 255, 255, 0, 0, 128, 64})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := replaceStack(rand.New(&decisions{data: data, then: rand.NewPCG(1, 1)}), toyRoles()); err != nil {
			t.Fatal(err)
		}
	})
}

// decisions are random numbers by bytes, one each, so that a fuzzer can change one at a
// time; then those of a generator.
type decisions struct {
	data []byte
	then rand.Source
}

// Uint64 implements rand.Source.
func (d *decisions) Uint64() uint64 {
	if len(d.data) == 0 {
		return d.then.Uint64()
	}
	b := d.data[0]
	d.data = d.data[1:]
	return uint64(b)<<56 | 1<<55 | uint64(b) // some numbers come from the upper bits, some from the lower ones
}

// replaceStack plans one random stack into another one, and runs the plan.
func replaceStack(r *rand.Rand, rules diff.Rules) error {
	want, have := slotsAsFields(randomStack(r)), observedStack(slotsAsFields(randomStack(r)).Resources...)
	p := diff.Compare(want, have, rules, ledgerWith(nil))
	if len(p.Blocked) > 0 {
		return fmt.Errorf("held although nothing stands in the way:\n%v", planLines(p))
	}
	w := newWorld(rules, have)
	granted := w.granted()
	for _, s := range p.Steps {
		if err := w.step(s); err != nil {
			return fmt.Errorf("%s: %w\nplan: %v", s.ID, err, planLines(p))
		}
		now := w.granted()
		for name := range granted {
			if _, wanted := want.Get(newKey("rule", name)); !now[name] && (wanted || !admitsAll(want, now)) {
				return fmt.Errorf("after %s rule %s is revoked before all others are granted", s.ID, name)
			}
		}
	}
	final := showStack(want)
	got := w.show()
	for name := range got { // inherent parts that are not desired stay unchanged
		if _, wanted := final[name]; !wanted && name == "attrs" {
			delete(got, name)
		}
	}
	if d := cmp.Diff(final, withDefaults(got, final)); d != "" {
		return fmt.Errorf("(-want +got):\n%s\nplan: %v", d, planLines(p))
	}
	return nil
}

func admitsAll(want *stack.Stack, now map[string]bool) bool {
	return !slices.ContainsFunc(want.Of("rule"), func(r stack.Resource) bool { return !now[r.Key.Name] })
}

// withDefaults adds the inherent parts that need no step.
func withDefaults(got, want map[string]string) map[string]string {
	for name, spec := range want {
		_, there := got[name]
		if !there && (spec == `slot="" Idle=60` || spec == `slot="" IDs=[]`) {
			got[name] = spec
		}
	}
	return got
}

func TestAStackIntoItselfIsNoPlan(t *testing.T) {
	for seed := range uint64(300) {
		s := randomStack(rand.New(rand.NewPCG(seed, 2)))
		if p := diff.Compare(s, observedStack(s.Resources...), toyRules(), ledgerWith(nil)); !p.Empty() {
			t.Fatalf("seed %d: %v", seed, planLines(p))
		}
	}
}

func TestTheOrderOfInputsMeansNothing(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		want, have := randomStack(r), observedStack(randomStack(r).Resources...)
		first := diff.Compare(want, have, toyRules(), ledgerWith(nil))
		second := diff.Compare(shuffleStack(r, want), shuffleStack(r, have), toyRules(), ledgerWith(nil))
		if d := cmp.Diff(first, second, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("seed %d: (-in order +shuffled):\n%s", seed, d)
		}
	}
}

// TestWhatIsNotOursIsLeftAlone removes the proof of some observed resources, and
// sometimes the ledger is not ready: the remaining plan must still be possible,
// step by step, and change or use nothing of others.
func TestWhatIsNotOursIsLeftAlone(t *testing.T) {
	rules := toyRules()
	heldSome := 0
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 4))
		want, have := slotsAsFields(randomStack(r)), observedStack(slotsAsFields(randomStack(r)).Resources...)
		for _, res := range have.Resources {
			if r.IntN(4) == 0 && !rules.Kinds[res.Key.Kind].Within.Inherent {
				removeProof(have, res.Key)
			}
		}
		l := ledgerWith(nil)
		if r.IntN(2) == 0 {
			l = emptyLedger()
		}
		p := diff.Compare(want, have, rules, l)
		w := newWorld(rules, have)
		for _, s := range p.Steps {
			if err := w.step(s); err != nil {
				t.Fatalf("seed %d: %s: %v\nhave: %v\nplan: %v", seed, s.ID, err, unprovenKeys(have), planLines(p))
			}
		}
		if len(p.Blocked) > 0 {
			heldSome++
		}
		for _, res := range have.Resources {
			if res.Proof == stack.None && !goesAlong(have, res, rules) && w.newest(res.Key) == nil {
				t.Fatalf("seed %d: another owner's %s is deleted\nplan: %v", seed, res.Key, planLines(p))
			}
		}
	}
	if heldSome < rounds/2 {
		t.Errorf("only %d of %d plans held anything: the test does not test", heldSome, rounds)
	}
}

// goesAlong reports whether a resource is a part of one of ours, and the cloud deletes
// both together.
func goesAlong(have *stack.Stack, r stack.Resource, rules diff.Rules) bool {
	for rules.Kinds[r.Key.Kind].Within.Cascade || rules.Kinds[r.Key.Kind].Within.Inherent {
		parent, ok := have.Get(r.In)
		if !ok || parent.Proof != stack.None {
			return ok
		}
		r = parent
	}
	return false
}

// removeProof removes the proof from a resource and everything in it, as a read does
// that finds another owner's load balancer.
func removeProof(s *stack.Stack, k stack.Key) {
	for i, r := range s.Resources {
		if r.Key == k || r.In == k {
			s.Resources[i].Proof = stack.None
			if r.Key != k {
				removeProof(s, r.Key)
			}
		}
	}
}

func unprovenKeys(s *stack.Stack) string {
	text := ""
	for _, r := range s.Resources {
		text += fmt.Sprintf(" %s(%d)", r.Key, r.Proof)
	}
	return text
}
