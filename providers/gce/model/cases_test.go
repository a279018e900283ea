package model

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
)

// TestCases: what each Service wants, what the user is told, what is done, and
// what the Service carries once it is done.
func TestCases(t *testing.T) {
	for _, c := range loadCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			r := c.run(t)
			out := cases.Told(r.problems)
			if r.want == nil {
				c.Check(t, "stack.golden", out+"nothing is built; what is there stays\n")
				return
			}
			c.Check(t, "stack.golden", out+text(r.want))
			p := diff.Compare(r.want, matchFound(r.want, r.have), Rules(), cases.ReadyLedger())
			c.Check(t, "plan.golden", planText(p))
			if !c.world.Deleted {
				c.Check(t, "status.golden", statusText(r.in, asFound(r.want, r.have)))
			}
			if c.world.TakeOver && !p.Empty() {
				t.Errorf("what the official controller left needs a plan:\n%s", planText(p))
			}
		})
	}
}

// TestIdempotent: once everything is made and addresses that held an IP are gone,
// building again wants the same, and there is nothing to do.
func TestIdempotent(t *testing.T) {
	for _, c := range loadCases(t) {
		r := c.run(t)
		if r.want == nil || c.world.Deleted {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			have, want := asFound(r.want, r.have), r.want
			for range 2 {
				in, _ := inputOf(c.config, c.service, c.world.Nodes, c.world.Pods)
				again, problems, err := build(in, &c.world.Facts, have)
				if err != nil || problems.Errors() {
					t.Fatalf("build again: %v %v", err, problems.Strings())
				}
				p := diff.Compare(again, matchFound(again, have), Rules(), cases.ReadyLedger())
				if onlyReleases(p) {
					have, want = asFound(again, have), again
					continue
				}
				if d := cmp.Diff(want.Resources, again.Resources); d != "" {
					t.Logf("build on its own result differs (-first +again):\n%s", d)
				}
				t.Fatalf("plan is not empty:\n%s", planText(p))
			}
			if len(want.Of(KindAddress)) > 0 {
				t.Errorf("an address is still held: %v", want.Of(KindAddress))
			}
		})
	}
}

// onlyReleases: nothing is left to do but to give addresses back that held an IP.
func onlyReleases(p plan.Plan) bool {
	for _, s := range p.Steps {
		if s.ID.Action != plan.Delete || s.ID.Key.Kind != KindAddress {
			return false
		}
	}
	return len(p.Held) == 0
}

// TestOrder: the order of nodes, ports and pods means nothing.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range loadCases(t) {
		r := c.run(t)
		if r.want == nil || c.world.Deleted {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			for range 3 {
				nodes, pods, svc := slices.Clone(c.world.Nodes), slices.Clone(c.world.Pods), c.service.DeepCopy()
				rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
				rng.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
				slices.Reverse(svc.Spec.Ports)
				in, _ := inputOf(c.config, svc, nodes, pods)
				got, _, err := build(in, &c.world.Facts, c.have(t))
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(r.want.Resources, got.Resources); d != "" {
					t.Errorf("shuffled input builds another stack (-want +got):\n%s", d)
				}
			}
		})
	}
}

// TestMoves: from whatever one case leaves to whatever another wants there is a
// plan without a circle, and nothing of the first stays.
func TestMoves(t *testing.T) {
	all := loadCases(t)
	for _, from := range all {
		a := from.run(t)
		if a.want == nil || from.world.Deleted {
			continue
		}
		have := asFound(a.want, a.have)
		for _, to := range all {
			if to.world.Deleted {
				continue
			}
			in, problems := inputOf(to.config, to.service, to.world.Nodes, to.world.Pods)
			want, more, err := build(in, &to.world.Facts, have)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil || problems.Errors() || more.Errors() || from.service.Name != to.service.Name {
				continue
			}
			p := diff.Compare(want, matchFound(want, have), Rules(), cases.ReadyLedger())
			for _, h := range p.Held {
				t.Errorf("%s to %s: held by %s: %s: %s", from.Name, to.Name, h.By, h.Step.ID, h.Why)
			}
			if left := cases.LeftOver(want, matchFound(want, have), p, Rules()); len(left) > 0 {
				t.Errorf("%s to %s: left over: %v", from.Name, to.Name, left)
			}
		}
	}
}
