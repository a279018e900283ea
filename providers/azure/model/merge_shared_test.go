package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
)

// randomGroups splits the numbers below n, in any order, into groups of any size.
func randomGroups(rng *rand.Rand, n int) [][]int {
	all, out := rng.Perm(n), [][]int{}
	for len(all) > 0 {
		size := min(1+rng.IntN(20), len(all))
		out, all = append(out, all[:size]), all[size:]
	}
	return out
}

// TestOneWriteForMany: the entries of 50 new Services are one write of the load
// balancer and one of the security group.
func TestOneWriteForMany(t *testing.T) {
	a, book := newARM(t, testConfig(), "kubernetes", testFacts()), cases.ReadyLedger()
	var steps []plan.Step
	for n := range 50 {
		tn := tenantOf(t, a, testService(n, map[string]string{internalOn: "true"}, 80))
		steps = append(steps, a.plan(tn.in.Owner, tn, book).Steps...)
	}
	refused := a.apply(plan.Batch{Key: steps[0].Batch, Steps: slices.DeleteFunc(steps, func(s plan.Step) bool { return !strings.HasPrefix(s.Batch, "lb/") }), Claims: book})
	if len(refused) > 0 {
		t.Fatal(refused)
	}
	lb := a.lbs["kubernetes-internal"]
	if n := len(lb.Props().List(ListRules)); n != 50 || a.writes["lb"] != 1 {
		t.Errorf("%d rules after %d writes, want 50 after 1", n, a.writes["lb"])
	}
}

// TestSharedIP: three Services on one address with different ports, deleted in
// every order: after each step every port that is left is open and served, and
// nothing else is.
func TestSharedIP(t *testing.T) {
	for _, kind := range []string{Public, Internal} {
		for _, order := range cases.Orders(3) {
			t.Run(fmt.Sprint(kind, order), func(t *testing.T) {
				a, book := newARM(t, testConfig(), "kubernetes", testFacts()), cases.ReadyLedger()
				tenants := a.sharing(kind, book)
				left := []int{0, 1, 2}
				for _, n := range order {
					a.settle(tenants[n].in.Owner, nil, book)
					left = slices.DeleteFunc(left, func(m int) bool { return m == n })
					var want []string
					for _, m := range left {
						want = append(want, fmt.Sprint(80+m))
					}
					open, served := a.open(), a.served()
					if kind == Internal {
						open = want // no rule at all, by default
					}
					if d := cmp.Diff([][]string{want, want}, [][]string{open, served}); d != "" {
						t.Fatalf("after %d: open, served (-want +got):\n%s", n, d)
					}
					for _, m := range left {
						if p := a.plan(tenants[m].in.Owner, tenants[m], book); p.Writes() {
							t.Errorf("after %d, Service %d: %s", n, m, planText(p))
						}
					}
				}
				if len(a.lbs) != 0 || len(a.pips) != 0 {
					t.Errorf("left: %v %v", a.lbs, a.pips)
				}
			})
		}
	}
}

// sharing makes three Services on one address: the first has it, the others ask for it.
func (a *arm) sharing(kind string, book *ledger.Ledger) []*tenant {
	a.t.Helper()
	var out []*tenant
	values := map[string]string{}
	if kind == Internal {
		values[internalOn] = "true"
	}
	for n := range 3 {
		if n == 1 {
			for _, lb := range a.lbs {
				values["azure-load-balancer-ipv4"] = frontendOf(lb.Props().List(ListFrontends)[0], a.address).Address
				a.asked = append(a.asked, values["azure-load-balancer-ipv4"])
			}
		}
		tn := tenantOf(a.t, a, testService(n, values, int32(80+n)))
		out = append(out, tn)
		if _, refused := a.settle(tn.in.Owner, tn, book); len(refused) > 0 || tn.problems.Errors() {
			a.t.Fatal(refused, tn.problems.Strings())
		}
	}
	return out
}

func (a *arm) open() []string {
	var out []string
	for _, r := range a.nsg.Props().List(ListSecurity) {
		out = append(out, portsOf(r.Props())...)
	}
	slices.Sort(out)
	return out
}

func (a *arm) served() []string {
	var out []string
	for _, lb := range a.lbs {
		for _, r := range lb.Props().List(ListRules) {
			out = append(out, fmt.Sprint(r.Props().number("frontendPort")))
		}
	}
	slices.Sort(out)
	return out
}

// TestPrimaryMoves: the Service whose name the frontend has moves to another address while
// another Service uses the old one.
func TestPrimaryMoves(t *testing.T) {
	a, book := newARM(t, testConfig(), "kubernetes", testFacts()), cases.ReadyLedger()
	tenants := a.sharing(Internal, book)
	old := a.read().Balancers[0].Frontends[0].Address
	moved := tenantOf(t, a, testService(0, map[string]string{internalOn: "true", "azure-load-balancer-ipv4": "10.240.0.9"}, 80))
	if _, refused := a.settle(moved.in.Owner, moved, book); len(refused) > 0 {
		t.Fatal(refused)
	}
	got := map[string]string{}
	for _, f := range a.read().Balancers[0].Frontends {
		got[f.Name] = f.Address
	}
	want := map[string]string{BaseName(moved.in.Owner.UID): "10.240.0.9", BaseName(tenants[1].in.Owner.UID): old}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("frontends (-want +got):\n%s", d)
	}
	for _, n := range []int{1, 2} {
		if _, refused := a.settle(tenants[n].in.Owner, tenants[n], book); len(refused) > 0 {
			t.Fatal(refused)
		}
	}
	if d := cmp.Diff([]string{"80", "81", "82"}, a.served()); d != "" {
		t.Errorf("served (-want +got):\n%s", d)
	}
}
