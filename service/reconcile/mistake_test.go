package reconcile_test

import (
	"slices"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// places is a cloud in which Services name a place, which is known once a read has found
// it.
type places struct {
	there map[string]bool
	read  string // the place that the last read asked for
}

func (p *places) cloud(w *world) providers.Cloud[string, struct{}] {
	cloud := toyCloud()
	place := func(in providers.Input[string]) string { return labelAnnotation.Get(in.Values) }
	cloud.Select = func(providers.Input[string]) nodeports.Filter { return nodeports.Filter{} }
	cloud.Scope = func(in providers.Input[string]) (providers.Scope, error) {
		s := ownedScope(in.Identity)
		s.Facts = []providers.Lookup{{By: "place", Value: place(in)}}
		return s, nil
	}
	w.asked = func(s providers.Scope) {
		for _, l := range s.Facts {
			p.read = l.Value
		}
	}
	cloud.Build = func(in providers.Input[string], facts struct{}, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
		if name := place(in); !p.there[name] || p.read != name {
			return nil, annotations.Problems{{Key: labelAnnotation.Name, Value: name, Message: "is nowhere"}}, nil
		}
		return buildToy(in, facts, have)
	}
	cloud.KeepServing = func(in providers.Input[string], _ struct{}, have *stack.Stack) *stack.Stack {
		out := have.Clone()
		for i := range out.Resources {
			if _, ok := out.Resources[i].Spec.(members); ok {
				out.Resources[i].Spec = members{Nodes: in.Backends.Nodes.Names()}
			}
		}
		return out
	}
	return cloud
}

// TestMistakeThatARefusalShows: a name that only a refusal shows to be wrong is reported in the
// same run, and everything else is as if the Service had never named it. If the session reports
// that it has learned a fact which no draft reports, the call is refused once more.
func TestMistakeThatARefusalShows(t *testing.T) {
	for name, c := range map[string]struct{ restarts, forgets bool }{"it was fine": {}, "after a restart": {restarts: true}, "the session forgets": {forgets: true}} {
		t.Run(name, func(t *testing.T) {
			w, p := newWorld(), &places{there: map[string]bool{"here": true, "there": true}}
			cloud, refusals := p.cloud(w), 0
			plain := cloud.Build
			cloud.Build = func(in providers.Input[string], facts struct{}, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
				out, problems, err := plain(in, facts, have)
				if name := labelAnnotation.Get(in.Values); name != "here" && out != nil {
					out.Put(ruleOf(name))
				}
				return out, problems, err
			}
			w.refuse = func(s plan.Step) *plan.Outcome {
				if s.Target.Key.Name != "there" {
					return nil
				}
				refusals++
				p.there["there"] = c.forgets
				return &plan.Outcome{Err: &fault.Fault{Meaning: fault.Invalid, Learned: true}}
			}
			begin := func() *process {
				p := startIn(cloud, w, testclock.NewFakeClock(time.Unix(1e9, 0)))
				p.AllKnown()
				return p
			}
			proc := begin()
			proc.settle(t, jobFor(newShop("a", one, "node-label=here")))
			before := w.show(t)
			if c.restarts {
				proc = begin()
			}
			res, err := proc.once(jobFor(newShop("a", one, "node-label=there")))
			if err != nil {
				t.Fatal(err)
			}
			checkEqual(t, c.forgets, fault.Is(res.Err, fault.Invalid))
			checkEqual(t, !c.forgets, len(res.Draft.Problems) == 1 && res.Draft.Problems[0].Value == "there")
			checkEqual(t, c.forgets, refusals == 2)
			checkEqual(t, true, slices.Equal(before, w.show(t)))
		})
	}
}

// TestMistakeThatTheCloudShows: a name that is not found is reported, and the Service keeps
// its resources and follows its nodes: by the last valid request or, if that is invalid by now or
// unknown, by the existing resources.
func TestMistakeThatTheCloudShows(t *testing.T) {
	for name, c := range map[string]struct {
		gone, restarts, alone bool
	}{
		"it was fine": {}, "it is fine no longer": {gone: true}, "after a restart": {restarts: true},
		"it is fine no longer, and the cloud cannot follow": {gone: true, alone: true},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := newWorld(), &places{there: map[string]bool{"here": true}}
			cloud := p.cloud(w)
			if c.alone {
				cloud.KeepServing = nil
			}
			begin := func() *process {
				p := startIn(cloud, w, testclock.NewFakeClock(time.Unix(1e9, 0)))
				p.AllKnown()
				return p
			}
			proc := begin()
			proc.settle(t, jobFor(newShop("a", one, "node-label=here")))
			if c.restarts {
				proc = begin()
			}
			p.there["here"] = !c.gone
			proc.SetNodes([]nodeports.Node{newNode("n1"), newNode("n2"), newNode("n3")})
			res, err := proc.once(jobFor(newShop("a", one, "node-label=there")))
			if err != nil || res.Err != nil {
				t.Fatal(err, res.Err)
			}
			checkEqual(t, c.alone, res.Draft.Intent == reconcile.LeaveAlone)
			checkEqual(t, !c.alone, slices.Contains(w.show(t), "a pool 30080 [n1 n2 n3]"))
			if len(res.Draft.Problems) != 1 || res.Draft.Problems[0].Value != "there" {
				t.Errorf("told: %v", res.Draft.Problems.Strings())
			}
		})
	}
}
