package model

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/test/cases"
)

// TestCases verifies the desired stack of each Service, the messages to the user, the first
// steps, and the final state of Azure.
func TestCases(t *testing.T) {
	for _, c := range loadCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			a, book := c.arm(t)
			tn := c.tenant(c.service)
			parsed := tn.problems
			owner := tn.in.Owner
			if c.world.Deleted {
				first, refused := a.settle(owner, nil, book)
				c.Check(t, "plan.golden", planText(first))
				c.Check(t, "after.golden", formatRefusals(refused)+a.state())
				return
			}
			want, problems, err := buildStack(tn.in, a.read(), a.have(owner))
			if err != nil {
				t.Fatal(err)
			}
			out := cases.Told(append(parsed, problems...))
			if want == nil || parsed.Errors() {
				c.Check(t, "stack.golden", out+"nothing is built; existing resources stay\n")
				return
			}
			c.Check(t, "stack.golden", out+renderStack(want))
			first, refused := a.settle(owner, tn, book)
			if c.world.Expect == "empty" && !first.Empty() {
				t.Errorf("the plan is not empty:\n%s", planText(first))
			}
			c.Check(t, "plan.golden", planText(first))
			c.Check(t, "after.golden", formatRefusals(refused)+a.state())
		})
	}
}

func formatRefusals(refused []error) string {
	var b strings.Builder
	for _, err := range refused {
		b.WriteString("refused: " + err.Error() + "\n")
	}
	return b.String()
}

// buildableCases returns the cases that can be built and stay.
func buildableCases(t *testing.T) []testCase {
	t.Helper()
	return slices.DeleteFunc(loadCases(t), func(c testCase) bool {
		a, _ := c.arm(t)
		tn := c.tenant(c.service)
		want, problems, err := buildStack(tn.in, a.read(), a.have(tn.in.Owner))
		return err != nil || c.world.Deleted || want == nil || problems.Errors() || tn.problems.Errors()
	})
}

// TestIdempotent: once everything is made, building again wants the same, there
// is nothing to do, and a release leaves nothing of the Service.
func TestIdempotent(t *testing.T) {
	for _, c := range buildableCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			a, book := c.arm(t)
			tn := c.tenant(c.service)
			if _, refused := a.settle(tn.in.Owner, tn, book); len(refused) > 0 {
				return // waits for others
			}
			if p := a.plan(tn.in.Owner, tn, book); !p.Empty() {
				t.Errorf("plan is not empty:\n%s", planText(p))
			}
			first, _, _ := buildStack(tn.in, a.read(), a.have(tn.in.Owner))
			again, _, _ := buildStack(tn.in, a.read(), a.have(tn.in.Owner))
			if d := cmp.Diff(first.Resources, again.Resources); d != "" {
				t.Errorf("build differs (-first +again):\n%s", d)
			}
			a.settle(tn.in.Owner, nil, book)
			left := a.have(tn.in.Owner)
			for _, r := range left.Resources {
				if r.Proof != stack.None && len(book.Others(tn.in.Owner, r)) == 0 {
					t.Errorf("left after the release: %s (proof %d)", r.Key, r.Proof)
				}
			}
		})
	}
}

// TestOrder: the order of nodes and ports means nothing, but for the one port
// that names the rule for all ports.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range buildableCases(t) {
		if c.service.Annotations[haKey.Name] != "" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			a, _ := c.arm(t)
			tn := c.tenant(c.service)
			want, _, _ := buildStack(tn.in, a.read(), a.have(tn.in.Owner))
			nodes, svc := slices.Clone(c.world.Nodes), c.service.DeepCopy()
			rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
			slices.Reverse(svc.Spec.Ports)
			shuffled := c
			shuffled.world.Nodes = nodes
			in := shuffled.tenant(svc).in
			got, _, err := buildStack(in, a.read(), a.have(tn.in.Owner))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want.Resources, got.Resources); d != "" {
				t.Errorf("shuffled input builds another stack (-want +got):\n%s", d)
			}
		})
	}
}

// TestMoves: from whatever one case leaves to whatever another wants the way ends
// with nothing to do, and a release then leaves nothing of the Service.
func TestMoves(t *testing.T) {
	cases := slices.DeleteFunc(buildableCases(t), func(c testCase) bool {
		return len(c.world.Balancers)+len(c.world.Before)+len(c.world.PublicIPs)+len(c.world.Links) > 0 || c.world.Security != nil || c.config.PreConfigured != ""
	})
	for _, from := range cases {
		for _, to := range cases {
			if cmp.Diff(from.config, to.config) != "" {
				continue
			}
			t.Run(from.Name+"/"+to.Name, func(t *testing.T) {
				a, book := from.arm(t)
				a.asked = append(a.asked, askedAddresses(to.tenant(to.service).in)...)
				one, two := from.tenant(from.service), to.tenant(to.service)
				two.in.Owner = one.in.Owner
				if _, refused := a.settle(one.in.Owner, one, book); len(refused) > 0 {
					return
				}
				if _, refused := a.settle(two.in.Owner, two, book); len(refused) > 0 {
					return
				}
				if p := a.plan(two.in.Owner, two, book); !p.Empty() {
					t.Errorf("not at rest:\n%s", planText(p))
				}
				a.settle(two.in.Owner, nil, book)
				if len(a.lbs)+len(a.pips)+len(a.links)+len(a.members) > 0 || len(a.nsg.Props().List(ListSecurity)) > 0 {
					t.Errorf("left:\n%s", a.state())
				}
			})
		}
	}
}

// TestNothingHeld: no plan between cases has a circle or holds a step.
func TestNothingHeld(t *testing.T) {
	for _, c := range buildableCases(t) {
		a, book := c.arm(t)
		tn := c.tenant(c.service)
		have := a.have(tn.in.Owner)
		want, _, _ := buildStack(tn.in, a.read(), have)
		for _, h := range diff.Compare(want, matchFound(want, have), Rules(), book).Blocked {
			t.Errorf("%s: held by %s: %s: %s", c.Name, h.By, h.Step.ID, h.Why)
		}
	}
}
