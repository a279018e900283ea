package engine

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// admitted is a set of rules.
type admitted struct{ Rules []string }

// planExchange returns a plan that exchanges a port and the rule for its clients: the old rule is
// removed, the new port is created, the old one is deleted, and the new rule is added.
func planExchange() (plan.Plan, *stack.Stack) {
	o := testOwner(1)
	rules := stack.Resource{Key: testKey("rules"), ID: "id-of-rules", Proof: stack.Name, Spec: admitted{[]string{"a", "both"}}}
	old := stack.Resource{Key: testKey("old"), ID: "id-of-old", Proof: stack.Name, Spec: thing{Name: "old"}}
	update := func(part string, ch plan.Change) plan.Step {
		ch.Field, ch.From, ch.To = "Rules", []string{"a", "both"}, []string{"both", "b"}
		s := plan.Step{ID: plan.StepID{Owner: o, Key: rules.Key, Action: plan.Update, Part: part}, Target: rules, Found: rules.Spec, Changes: []plan.Change{ch}, Reason: plan.Changed}
		s.Target.Spec = admitted{[]string{"both", "b"}}
		return s
	}
	shut, open := update("shuts-", plan.Change{Removed: []any{"a"}}), update("opens+", plan.Change{Added: []any{"b"}})
	create := createStep(o, "new")
	remove := plan.Step{ID: plan.StepID{Owner: o, Key: old.Key, Action: plan.Delete}, Target: old, Reason: plan.Unwanted}
	first := plan.Pair{Create: create.ID, Delete: shut.ID, Order: plan.DeleteFirst, Restore: true}
	last := plan.Pair{Create: open.ID, Delete: remove.ID, Order: plan.DeleteFirst, Restore: true}
	shut.Pair, create.Pair, remove.Pair, open.Pair = first, first, last, last
	remove.Undoes, open.Undoes, create.Undoes = []plan.Pair{first}, []plan.Pair{first}, []plan.Pair{last}
	create.Needs, remove.Needs, open.Needs = []plan.StepID{shut.ID}, []plan.StepID{create.ID}, []plan.StepID{remove.ID}
	return planOf(shut, create, remove, open), &stack.Stack{Owner: o, Resources: []stack.Resource{rules, old}}
}

// exchangeCloud has ports by name, and rules.
type exchangeCloud struct {
	mu           sync.Mutex // steps that restore something run at the same time
	ports, rules []string
	answers      map[string]plan.Outcome // by step
	calls        []string
	then         func(plan.Step)
}

func (c *exchangeCloud) apply(_ context.Context, b plan.Batch) []plan.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	return applyEach(func(s plan.Step) plan.Outcome {
		c.calls = append(c.calls, s.ID.String())
		if c.then != nil {
			c.then(s)
		}
		if o, ok := c.answers[s.ID.String()]; ok {
			return o
		}
		name := s.ID.Key.Name
		switch s.ID.Action {
		case plan.Create:
			c.ports = append(c.ports, name)
		case plan.Delete:
			c.ports = slices.DeleteFunc(c.ports, func(p string) bool { return p == name })
		case plan.Update:
			added, removed := plan.Members[string](s)
			c.rules = slices.DeleteFunc(append(c.rules, added...), func(r string) bool { return slices.Contains(removed, r) })
			slices.Sort(c.rules)
		case plan.Forget:
		}
		after := s.Target
		after.ID = "id-of-" + name
		if s.ID.Action == plan.Update {
			after.Spec = nil
		}
		return plan.Done(after)
	})(context.Background(), b)
}

// TestExchange: where a step of an exchange is refused, the old port has its old clients again,
// and no port had those of the other one meanwhile.
func TestExchange(t *testing.T) {
	const shut, create, remove, open = "update thing/rules shuts-", "create thing/new", "delete thing/old", "update thing/rules opens+"
	for name, tc := range map[string]struct {
		refused      string
		as           plan.Outcome
		ports, rules []string
		again        []string // calls after the refused one; those after the first in any order
		text         string
	}{
		"performed":            {"", plan.Outcome{}, []string{"new"}, []string{"b", "both"}, nil, ""},
		"nothing is closed":    {shut, refuseAs(fault.Denied), []string{"old"}, []string{"a", "both"}, nil, "no"},
		"the port is refused":  {create, refuseAs(fault.Quota), []string{"old"}, []string{"a", "both"}, []string{"update thing/rules rules+"}, "created again as it was before"},
		"the old port stays":   {remove, refuseAs(fault.Denied), []string{"old"}, []string{"a", "both"}, []string{"delete thing/new", "update thing/rules rules+"}, "was undone"},
		"the rule is refused":  {open, refuseAs(fault.Quota), []string{"old"}, []string{"a", "both"}, []string{"delete thing/new", "create thing/old", "update thing/rules rules+"}, "created again as it was before"},
		"refused for a while":  {create, refuseAs(fault.Throttled), []string{"old"}, []string{"both"}, nil, "no"},
		"no answer for a port": {create, plan.Outcome{Err: fault.New(fault.Ambiguous, "lost"), Sent: plan.MaybeSent}, []string{"old"}, []string{"both"}, nil, "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			p, have := planExchange()
			cloud := &exchangeCloud{ports: []string{"old"}, rules: []string{"a", "both"}, answers: map[string]plan.Outcome{tc.refused: tc.as}}
			r := New(cloud.apply, nil, Options{PerOwner: 1}).Run(t.Context(), p, have, nil)
			if d := cmp.Diff(tc.ports, cloud.ports) + cmp.Diff(tc.rules, cloud.rules); d != "" {
				t.Errorf("the cloud has (-want +got):\n%s", d)
			}
			if at := slices.Index(cloud.calls, tc.refused); tc.refused != "" {
				after := append([]string(nil), cloud.calls[at+1:]...)
				slices.Sort(after[min(1, len(after)):])
				if d := cmp.Diff(tc.again, after); d != "" {
					t.Errorf("calls after it (-want +got):\n%s", d)
				}
			}
			known, _ := r.Have.Get(testKey("rules"))
			if spec, _ := known.Spec.(admitted); !slices.Equal(slices.Sorted(slices.Values(spec.Rules)), tc.rules) {
				t.Errorf("known is %v, want %v", spec.Rules, tc.rules)
			}
			if err := r.Err(); (err == nil) != (tc.text == "") || err != nil && !strings.Contains(err.Error(), tc.text) {
				t.Errorf("error %v, want %q", err, tc.text)
			}
		})
	}
}

// TestExchangeLater: what an exchange has taken away is restored by a later run too, where the port
// without an answer is refused then.
func TestExchangeLater(t *testing.T) {
	p, have := planExchange()
	cloud := &exchangeCloud{ports: []string{"old"}, rules: []string{"a", "both"}, answers: map[string]plan.Outcome{"create thing/new": {Err: fault.New(fault.Ambiguous, "lost"), Sent: plan.MaybeSent}}}
	e := New(cloud.apply, nil, Options{PerOwner: 1})
	r := e.Run(t.Context(), p, have, nil)
	cloud.answers["create thing/new"] = refuseAs(fault.Quota)
	next := p.Steps[1]
	next.Needs, next.Pair, next.Undoes = nil, plan.Pair{}, nil
	e.Run(t.Context(), planOf(next), r.Have, nil)
	if d := cmp.Diff([]string{"a", "both"}, cloud.rules); d != "" {
		t.Errorf("rules (-want +got):\n%s", d)
	}
}

// TestExchangeAtShutdown: a run that is to end completes an exchange that it has begun, and begins none.
func TestExchangeAtShutdown(t *testing.T) {
	for last, want := range map[string][]string{"update thing/rules shuts-": {"new", "b", "both"}, "update thing/pool": {"old", "a", "both"}} {
		p, have := planExchange()
		pool := plan.Step{ID: plan.StepID{Owner: testOwner(1), Key: testKey("pool"), Action: plan.Update}, Target: stack.Resource{Key: testKey("pool"), Spec: thing{}}}
		p.Steps[0].Needs = []plan.StepID{pool.ID}
		p.Steps = append([]plan.Step{pool}, p.Steps...)
		ctx, cancel := context.WithCancel(t.Context())
		cloud := &exchangeCloud{ports: []string{"old"}, rules: []string{"a", "both"}}
		cloud.then = func(s plan.Step) {
			if s.ID.String() == last {
				cancel()
			}
		}
		New(cloud.apply, nil, Options{PerOwner: 1}).Run(ctx, p, have, nil)
		cancel()
		if d := cmp.Diff(want, slices.Concat(cloud.ports, cloud.rules)); d != "" {
			t.Errorf("ended after %s (-want +got):\n%s", last, d)
		}
	}
}
