package model

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/test/cases"
)

// TestCases: what each Service wants, what the user is told, and what is done.
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
			c.Check(t, "plan.golden", planText(diff.Compare(r.want, r.have, Rules(), cases.ReadyLedger())))
		})
	}
}

// TestIdempotent: once everything is made, building again wants the same, and
// there is nothing to do.
func TestIdempotent(t *testing.T) {
	for _, c := range loadCases(t) {
		r := c.run(t)
		if r.want == nil || c.world.Deleted {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			in, _ := inputOf(c.config, c.world.ClusterName, c.service, c.world.Nodes, c.world.Slices...)
			if leaves(r.want) { // another plan follows, and ends it
				r.want, _, _ = build(in, &c.world.Facts, asFound(r.want))
			}
			have := asFound(r.want)
			again, problems, err := build(in, &c.world.Facts, have)
			if err != nil || problems.Errors() {
				t.Fatalf("build again: %v %v", err, problems.Strings())
			}
			if d := cmp.Diff(r.want.Resources, again.Resources); d != "" {
				t.Errorf("build on its own result differs (-first +again):\n%s", d)
			}
			p := diff.Compare(again, matchFound(again, have), Rules(), cases.ReadyLedger())
			if !p.Empty() {
				t.Errorf("plan is not empty:\n%s", planText(p))
			}
		})
	}
}

// leaves tells whether a listener is about to leave a target group.
func leaves(want *stack.Stack) bool {
	return slices.ContainsFunc(want.Of(KindListener), func(r stack.Resource) bool {
		l, _ := r.Spec.(Listener)
		return l.Leaving != ""
	})
}

// TestLater: a plan by which a target group joins a listener says what follows.
func TestLater(t *testing.T) {
	for name, want := range map[string]string{
		"lbc-nodes-to-pods": "once a target of target-group/tcp-80 is healthy, listener/tcp-80 sends to it alone, without an interruption; 2m0s later the old target group is deleted",
		"lbc-pods":          "",
	} {
		c := loadCase(t, filepath.Join("testdata", name))
		in, _ := inputOf(c.config, c.world.ClusterName, c.service, c.world.Nodes, c.world.Slices...)
		if got := strings.Join(later(in, &c.world.Facts, c.have(t)), "\n"); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestOrder: the order of nodes means nothing; that of ports only which one a
// Classic Load Balancer checks.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range loadCases(t) {
		r := c.run(t)
		if r.want == nil || c.world.Deleted {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			nodes, svc := slices.Clone(c.world.Nodes), c.service.DeepCopy()
			rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
			slices.Reverse(svc.Spec.Ports)
			in, _ := inputOf(c.config, c.world.ClusterName, svc, nodes, c.world.Slices...)
			got, _, err := build(in, &c.world.Facts, c.have(t))
			if err != nil {
				t.Fatal(err)
			}
			want := r.want.Clone()
			for _, s := range []*stack.Stack{want, got} {
				s.Drop(stack.Key{Kind: KindClassicCheck})
			}
			if d := cmp.Diff(want.Resources, got.Resources); d != "" {
				t.Errorf("shuffled input builds another stack (-want +got):\n%s", d)
			}
		})
	}
}

// TestMoves: from whatever one case leaves to whatever another wants there is a
// plan without a circle, and nothing of the first stays.
func TestMoves(t *testing.T) {
	var stacks []*stack.Stack
	var names []string
	for _, c := range loadCases(t) {
		if r := c.run(t); r.want != nil && !c.world.Deleted {
			stacks, names = append(stacks, r.want), append(names, c.Name)
		}
	}
	for i, from := range stacks {
		for j, to := range stacks {
			have := matchFound(to, asFound(from))
			p := diff.Compare(to, have, Rules(), cases.ReadyLedger())
			for _, h := range p.Held {
				t.Errorf("%s to %s: held by %s: %s: %s", names[i], names[j], h.By, h.Step.ID, h.Why)
			}
			if left := cases.LeftOver(to, have, p, Rules()); len(left) > 0 {
				t.Errorf("%s to %s: left over: %v", names[i], names[j], left)
			}
		}
	}
}
