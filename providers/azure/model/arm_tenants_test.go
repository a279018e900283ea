package model

import (
	"cmp"
	"maps"
	"slices"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
)

// tenant is one Service on the arm.
type tenant struct {
	in       input
	problems annotations.Problems
}

// together plans several Services at once and does what is ready of all of them in
// shared batches, until nothing is left to do. Nil tenants are released. With a
// budget of calls it stops when that is spent, as a process that dies.
func (a *arm) together(tenants map[stack.Owner]*tenant, book *ledger.Ledger, calls int) {
	a.t.Helper()
	for round := 0; calls > 0; round++ {
		if round > 8 {
			a.t.Fatalf("%d Services do not settle", len(tenants))
		}
		var steps []plan.Step
		for _, o := range slices.SortedFunc(maps.Keys(tenants), stack.Owner.Compare) {
			for _, s := range a.plan(o, tenants[o], book).Steps {
				if s.ID.Action != plan.Forget {
					steps = append(steps, s)
				}
			}
		}
		if len(steps) == 0 {
			return
		}
		done, ended := map[plan.StepID]bool{}, map[plan.StepID]bool{}
		planned := map[plan.StepID]bool{}
		for _, s := range steps {
			planned[s.ID] = true
		}
		progress := false
		for again := true; again; {
			again = false
			batches, order := map[string][]plan.Step{}, []string{}
			for _, s := range steps {
				waits := slices.ContainsFunc(s.AllNeeds(), func(id plan.StepID) bool { return planned[id] && !done[id] })
				if ended[s.ID] || waits {
					continue
				}
				key := cmp.Or(s.Batch, s.ID.String()+s.ID.Owner.String())
				if batches[key] == nil {
					order = append(order, key)
				}
				batches[key] = append(batches[key], s)
			}
			for _, key := range order {
				if calls--; calls < 0 {
					return
				}
				refused := a.apply(plan.Batch{Key: key, Steps: batches[key], Claims: book})
				for i, s := range batches[key] {
					ended[s.ID], again = true, true
					done[s.ID] = refused[i] == nil
					progress = progress || done[s.ID]
				}
			}
		}
		if !progress {
			return // all remaining steps wait for others
		}
	}
}

// settle plans and runs a Service until nothing is left to do, and returns the
// first plan. wanted nil: the Service is released.
func (a *arm) settle(owner stack.Owner, tn *tenant, book *ledger.Ledger) (first plan.Plan, refused []error) {
	a.t.Helper()
	for round := 0; ; round++ {
		if round > 6 {
			a.t.Fatalf("%s does not settle:\n%s", owner, planText(a.plan(owner, tn, book)))
		}
		p := a.plan(owner, tn, book)
		if round == 0 {
			first = p
		}
		if !p.Writes() {
			return first, refused
		}
		refused = nil
		failed := map[plan.StepID]bool{}
		for _, s := range p.Steps {
			if slices.ContainsFunc(s.AllNeeds(), func(id plan.StepID) bool { return failed[id] }) {
				failed[s.ID] = true
			}
			if s.ID.Action == plan.Forget || failed[s.ID] {
				continue
			}
			for _, err := range a.apply(plan.Batch{Key: s.Batch, Steps: []plan.Step{s}, Claims: book}) {
				failed[s.ID] = true
				refused = append(refused, err)
			}
		}
		if len(refused) > 0 {
			return first, refused
		}
	}
}

func (a *arm) plan(owner stack.Owner, tn *tenant, book *ledger.Ledger) plan.Plan {
	a.t.Helper()
	have := a.have(owner)
	want := &stack.Stack{Owner: owner}
	if tn == nil {
		book.Leave(owner)
	} else {
		in := tn.in
		in.Find = book.Find
		built, problems, err := buildStack(in, a.read(), have)
		if err != nil {
			a.t.Fatal(err)
		}
		tn.problems = problems
		if want = built; problems.Errors() {
			want = keepServing(tn.in, a.read(), have)
			want.Owner = owner
		}
		book.Enter(owner, want.Resources)
	}
	return diff.Compare(want, matchFound(want, have), Rules(), book)
}
