package model

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// strict is a cloud that does what a plan says and refuses what Google would.
type strict struct {
	t     *testing.T
	have  *stack.Stack
	fresh int
}

// step runs one step; the error is what Google would not do.
func (s *strict) step(p plan.Step) error {
	s.t.Helper()
	switch p.ID.Action {
	case plan.Create:
		if _, there := s.have.Get(p.ID.Key); there {
			return fmt.Errorf("%s: the name is taken", p.ID)
		}
		return s.create(p.Target)
	case plan.Update:
		return s.update(p)
	case plan.Delete:
		return s.remove(p.ID.Key)
	case plan.Forget:
		s.have.Drop(p.ID.Key)
	}
	return nil
}

func (s *strict) create(r stack.Resource) error {
	for _, ref := range stack.Refs(r.Spec) {
		if _, there := s.have.Get(ref.To); ref.ID == "" && !there {
			return fmt.Errorf("%s: %s is not there", r.Key, ref.To)
		}
	}
	r.ID, r.Proof = "id-of-"+r.Key.String(), stack.Name
	switch spec := r.Spec.(type) {
	case Address:
		if spec.IP == "" {
			spec.IP = s.freshIP(spec.IPVersion)
		}
		r.Spec = spec
	case Rule:
		if err := s.fits(spec); err != nil {
			return err
		}
		r.Spec = s.placed(spec)
	case Firewall:
		r.Spec = s.resolved(spec)
	}
	s.have.Put(r)
	return nil
}

// fits: two rules have one IP only for different protocols; the protocol is that
// of the backend service; and an IP can be asked for only while something has it.
func (s *strict) fits(spec Rule) error {
	if b, ok := s.have.Get(spec.Backend.To); ok {
		backend, _ := b.Spec.(Backend)
		if backend.Protocol != protocolAny && backend.Protocol != spec.Protocol || backend.Scheme != spec.Scheme {
			return fmt.Errorf("rule %s: protocol %s %s, backend service %s %s", spec.Name, spec.Scheme, spec.Protocol, backend.Scheme, backend.Protocol)
		}
	}
	if spec.IP == "" || spec.Wish {
		return nil
	}
	held := slices.Contains([]string{"203.0.113.9", "10.128.0.99", "2001:db8:9::"}, spec.IP) || spec.Scheme == SchemeInternal
	for _, r := range s.have.Resources {
		switch other := r.Spec.(type) {
		case Rule:
			if other.Name == spec.Name {
				return fmt.Errorf("rule %s: the name is taken", spec.Name)
			}
			if other.IP == spec.IP && other.Protocol == spec.Protocol {
				return fmt.Errorf("rule %s: %s %s is taken by %s", spec.Name, spec.IP, spec.Protocol, other.Name)
			}
			held = held || other.IP == spec.IP
		case Address:
			held = held || other.IP == spec.IP
		}
	}
	if !held {
		return fmt.Errorf("rule %s: %s is not reserved", spec.Name, spec.IP)
	}
	return nil
}

func (s *strict) placed(spec Rule) Rule {
	if a, ok := s.have.Get(spec.Address.To); ok && spec.IP == "" {
		address, _ := a.Spec.(Address)
		spec.IP = address.IP
	}
	if spec.IP == "" {
		spec.IP = s.freshIP(spec.IPVersion)
	}
	spec.Wish, spec.Address = false, stack.Ref{}
	return spec
}

func (s *strict) resolved(f Firewall) Firewall {
	if r, ok := s.have.Get(f.Destination.To); ok {
		rule, _ := r.Spec.(Rule)
		return f.At(rule.IP)
	}
	return f
}

func (s *strict) freshIP(version string) string {
	s.fresh++
	if version == VersionIPv6 {
		return fmt.Sprintf("2001:db8:%d::", s.fresh)
	}
	return fmt.Sprintf("192.0.2.%d", s.fresh)
}

func (s *strict) update(p plan.Step) error {
	now, there := s.have.Get(p.ID.Key)
	if !there {
		return fmt.Errorf("%s: is not there", p.ID)
	}
	for _, ch := range p.Changes {
		if ch.Field == "Protocol" {
			if by := s.users(p.ID.Key); len(by) > 0 {
				return fmt.Errorf("%s: the protocol is used by %v", p.ID, by)
			}
		}
		for _, f := range stack.Fields(p.Target.Spec) {
			if f.Name == ch.Field {
				now.Spec = stack.With(now.Spec, ch.Field, f.Value)
			}
		}
	}
	if f, ok := now.Spec.(Firewall); ok {
		now.Spec = s.resolved(f)
	}
	s.have.Put(now)
	return nil
}

func (s *strict) remove(k stack.Key) error {
	if by := s.users(k); len(by) > 0 && k.Kind != KindExternalRule && k.Kind != KindInternalRule && k.Kind != KindAddress {
		return fmt.Errorf("delete %s: in use by %v", k, by)
	}
	s.have.Drop(k)
	return nil
}

func (s *strict) users(k stack.Key) []stack.Key {
	var out []stack.Key
	for _, r := range s.have.Resources {
		if slices.ContainsFunc(stack.Refs(r.Spec), func(ref stack.Ref) bool { return ref.To == k }) {
			out = append(out, r.Key)
		}
	}
	return out
}

// course is a run of a case from a state, with its first plan, which every run that is cut
// begins with as well.
type course struct {
	testCase
	in    input
	start *stack.Stack
	first plan.Plan
}

func newCourse(t *testing.T, c testCase, in input, start *stack.Stack) course {
	t.Helper()
	out := course{testCase: c, in: in, start: start}
	out.first = out.next(t, start)
	return out
}

// next returns the plan for a state.
func (c course) next(t *testing.T, have *stack.Stack) plan.Plan {
	t.Helper()
	want, problems, err := buildStack(c.in, c.World.Facts, have)
	if err != nil || problems.Errors() {
		t.Fatalf("%s: %v %v", c.Name, err, problems.Strings())
	}
	return suite().Plan(want, have)
}

// converge builds and runs plans until there is nothing to do; the first plan is
// cut after some steps, as by a crash. It returns the state in the end.
func (c course) converge(t *testing.T, cut int) *stack.Stack {
	t.Helper()
	s := &strict{t: t, have: c.start.Clone()}
	var last plan.Plan
	for round := range 6 {
		p := c.first
		if round > 0 {
			p = c.next(t, s.have)
		}
		if p.Empty() {
			return s.have
		}
		last = p
		if len(p.Blocked) > 0 {
			t.Fatalf(c.Name+" round %d: held:\n%s", round, planText(p))
		}
		for i, step := range p.Steps {
			if round == 0 && i == cut {
				break
			}
			if err := s.step(step); err != nil {
				t.Fatalf(c.Name+" round %d, cut after %d: %v\n%s", round, cut, err, planText(p))
			}
		}
	}
	t.Fatalf(c.Name+" cut after %d: no end:\n%s", cut, planText(last))
	return nil
}

func ipsOf(have *stack.Stack) []string {
	var out []string
	for _, kind := range []stack.Kind{KindExternalRule, KindInternalRule} {
		for _, rule := range stack.Each[Rule](have, kind) {
			out = append(out, rule.IP)
		}
	}
	return sortedSet(out)
}

// TestCrash: wherever a run ends, the next one reaches the same state, nothing is left
// over, no step is one that Google refuses, and an IP that the uninterrupted run keeps
// is kept.
func TestCrash(t *testing.T) {
	for _, c := range suite().All(t) {
		r := c.Run(t)
		if r.Want == nil || c.World.Deleted {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			run := newCourse(t, c, r.In, r.Have)
			before := ipsOf(run.start)
			whole := run.converge(t, -1)
			for cut := range run.first.Steps {
				got := run.converge(t, cut)
				if d := cmp.Diff(keysOf(whole), keysOf(got)); d != "" {
					t.Errorf("cut after %d: (-whole +got)\n%s", cut, d)
				}
				if kept := slices.Equal(before, ipsOf(whole)); kept && !slices.Equal(before, ipsOf(got)) {
					t.Errorf("cut after %d: IPs %v, want %v", cut, ipsOf(got), before)
				}
			}
			if len(whole.Of(KindAddress)) > 0 {
				t.Errorf("held in the end: %v", whole.Of(KindAddress))
			}
		})
	}
}

func keysOf(s *stack.Stack) []string {
	var out []string
	for _, r := range s.Resources {
		out = append(out, r.Key.String())
	}
	slices.Sort(out)
	return out
}

// TestCrashBetween: the same from whatever one case leaves to whatever another
// wants, cut at a few places.
func TestCrashBetween(t *testing.T) {
	var cases []readCase
	left := map[string]*stack.Stack{}
	for _, c := range readCases(t) {
		if r := c.Run(t); r.Want != nil && !c.World.Deleted {
			cases = append(cases, c)
			left[c.Name] = asFound(r.Want, r.Have)
		}
	}
	const every = 5 // pairs that are tried: enough to meet each move of kinds
	for i, from := range cases {
		for j, to := range cases {
			if (i+3*j)%every == 0 && from.Service.Name == to.Service.Name {
				testCrashes(t, from.Name, left[from.Name], to)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// TestFirewallsOverlap: in no plan, from the leftovers of any case to the desired state
// of any other, is a firewall that lets clients in deleted before its replacements
// exist.
func TestFirewallsOverlap(t *testing.T) {
	met := 0
	all := readCases(t)
	for _, from := range all {
		r := from.Run(t)
		if r.Want == nil || from.World.Deleted {
			continue
		}
		left := asFound(r.Want, r.Have)
		for _, to := range all {
			want, _, err := buildStack(to.in, to.World.Facts, left)
			if err != nil || want == nil || from.Service.Name != to.Service.Name {
				continue
			}
			met += countReplaced(t, from.Name+" to "+to.Name, suite().Plan(want, left))
		}
	}
	if met == 0 {
		t.Error("no plan exchanges a firewall")
	}
}

// countReplaced returns how many firewalls a plan deletes while it creates others.
func countReplaced(t *testing.T, name string, p plan.Plan) int {
	t.Helper()
	graph := plan.NewGraph(p.Steps)
	var before func(at int, seen map[int]bool)
	before = func(at int, seen map[int]bool) {
		for _, n := range graph.Needs[at] {
			if !seen[n] {
				seen[n] = true
				before(n, seen)
			}
		}
	}
	met := 0
	for i, s := range p.Steps {
		if s.ID.Key.Kind != KindFirewall || s.ID.Action != plan.Delete {
			continue
		}
		seen := map[int]bool{}
		before(i, seen)
		for j, other := range p.Steps {
			if other.ID.Key.Kind == KindFirewall && other.ID.Action == plan.Create {
				met++
				if !seen[j] {
					t.Errorf("%s: %s does not wait for %s", name, s.ID, other.ID)
				}
			}
		}
	}
	return met
}

func testCrashes(t *testing.T, from string, start *stack.Stack, to readCase) {
	t.Helper()
	in := to.in
	if want, _, err := buildStack(in, to.World.Facts, start); err != nil || want == nil {
		return // refused: existing resources stay
	}
	// The loop has written the finalizers of what it makes before anything fails.
	svc := to.Service.DeepCopy()
	svc.Finalizers = append(svc.Finalizers, outputFinalizers(withEffectiveKind(in, start), start)...)
	in, _ = to.Input(svc)
	run := newCourse(t, to.testCase, in, start)
	whole := run.converge(t, -1)
	steps := len(run.first.Steps)
	for _, cut := range slices.Compact([]int{steps / 4, steps / 2, steps * 3 / 4}) {
		if d := cmp.Diff(keysOf(whole), keysOf(run.converge(t, cut))); d != "" {
			t.Errorf("%s to %s, cut after %d: (-whole +got)\n%s", from, to.Name, cut, d)
		}
	}
}
