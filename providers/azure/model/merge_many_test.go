package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
)

// TestOneBadAmongMany: a Service whose port is taken is left out by name; all
// others are written in the same call, in any order of the batch.
func TestOneBadAmongMany(t *testing.T) {
	for place := range 20 {
		a, book := newARM(t, testConfig(), "kubernetes", testFacts()), cases.ReadyLedger()
		holder := tenantOf(t, a, testService(99, map[string]string{internalOn: "true", "azure-load-balancer-ipv4": "10.240.0.50"}, 80))
		var steps []plan.Step
		for n := range 20 {
			values := map[string]string{internalOn: "true"}
			if n == place {
				values["azure-load-balancer-ipv4"] = "10.240.0.50"
			}
			tn := tenantOf(t, a, testService(n, values, 80))
			for _, s := range a.plan(tn.in.Owner, tn, book).Steps {
				if s.ID.Key.Kind == KindEntries {
					steps = append(steps, s)
				}
			}
		}
		a.settle(holder.in.Owner, holder, book) // after the plans of the others
		refused := a.apply(plan.Batch{Key: steps[0].Batch, Steps: steps, Claims: book})
		if len(refused) != 1 || fault.Of(refused[place]) != fault.Taken {
			t.Fatalf("refused: %v", refused)
		}
		if n := len(a.lbs["kubernetes-internal"].Props().List(ListRules)); n != 20 {
			t.Errorf("%d rules, want those of 19 Services and of the one before", n)
		}
	}
}

// TestMoveHeld: the frontend that a Service wants to leave cannot be handed on
// while outbound rules use it, so the move is refused and nothing changes.
func TestMoveHeld(t *testing.T) {
	a, book := newARM(t, testConfig(), "kubernetes", testFacts()), cases.ReadyLedger()
	a.sharing(Internal, book)
	lb := a.lbs["kubernetes-internal"]
	front := lb.Props().List(ListFrontends)[0]
	lb.Props().SetList(listOutbound, []Object{{"name": "mine", "properties": map[string]any{toFrontends: []any{IDObject(front.Text("id"))}}}})
	before := string(lb.Bytes())
	moved := tenantOf(t, a, testService(0, map[string]string{internalOn: "true", "azure-load-balancer-ipv4": "10.240.0.9"}, 80))
	_, refused := a.settle(moved.in.Owner, moved, book)
	if len(refused) != 1 || fault.Of(refused[0]) != fault.InUse || !strings.Contains(refused[0].Error(), "outbound") {
		t.Errorf("refused: %v", refused)
	}
	if after := string(a.lbs["kubernetes-internal"].Bytes()); after != before {
		t.Errorf("the load balancer has changed:\n%s\n%s", before, after)
	}
}

// BenchmarkMerge: a hundred Services come to a load balancer with 1,300 rules.
func BenchmarkMerge(b *testing.B) {
	a, book := newARM(b, testConfig(), "kubernetes", testFacts()), cases.ReadyLedger()
	var steps [][]plan.Step
	for _, from := range []int{0, 650} {
		var some []plan.Step
		for n := range 650 - from + from/650*100 {
			owner := stack.Owner{Name: fmt.Sprint(from + n), UID: fmt.Sprintf("%08x-0000-4000-8000-000000000000", from+n+1)}
			base := BaseName(owner.UID)
			e := Entries{Group: "rg", Balancer: "kubernetes-internal", Pools: []string{"kubernetes"}, Frontends: []Frontend{{Name: base, Subnet: a.c.SubnetID("nodes")}}}
			for _, port := range []int32{80, 443} {
				e.Rules = append(e.Rules, Rule{Name: fmt.Sprintf("%s-TCP-%d", base, port), Frontend: base, Pool: "kubernetes", Protocol: "Tcp", FrontendPort: port, BackendPort: port})
			}
			some = append(some, plan.Step{ID: plan.StepID{Owner: owner, Key: EntriesKey(e.Balancer), Action: plan.Create}, Target: stack.Resource{Key: EntriesKey(e.Balancer), Spec: e}, Batch: "lb/rg/kubernetes-internal"})
		}
		steps = append(steps, some)
	}
	if refused := a.apply(plan.Batch{Steps: steps[0], Claims: book}); len(refused) > 0 {
		b.Fatal(refused)
	}
	lb := a.lbs["kubernetes-internal"]
	in := LBMerge{Config: a.c, Cluster: "kubernetes", Name: "kubernetes-internal"}
	for b.Loop() {
		if edit := MergeBalancer(in, lb, plan.Batch{Steps: slices.Clone(steps[1]), Claims: book}); len(edit.Refused) > 0 {
			b.Fatal(edit.Refused)
		}
	}
}
