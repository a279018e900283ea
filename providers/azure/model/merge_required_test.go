package model

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/test/cases"
)

// ofFamilies is service with families.
func ofFamilies(n int, values map[string]string, families ...corev1.IPFamily) *corev1.Service {
	svc := testService(n, values, 80)
	svc.Spec.IPFamilies = families
	return svc
}

// mustRelease releases a Service, of which nothing may remain that is proven its own.
func (a *arm) mustRelease(tn *tenant, book *ledger.Ledger) {
	a.t.Helper()
	if _, refused := a.settle(tn.in.Owner, nil, book); len(refused) > 0 {
		a.t.Fatalf("the release of %s: %v", tn.in.Owner, refused)
	}
	for _, r := range a.have(tn.in.Owner).Resources {
		if r.Proof != stack.None {
			a.t.Errorf("%s is released and has %s", tn.in.Owner, r.Key)
		}
	}
}

// TestIPv6NeedsIPv4: an IPv6 frontend waits for one of IPv4. The Service with the last one of
// IPv4 is released while the frontend stays without rules, and the load balancer is deleted
// with the last Service. Both kinds are tested, as are two Services that leave at once.
func TestIPv6NeedsIPv4(t *testing.T) {
	for _, values := range []map[string]string{nil, {internalOn: "true"}} {
		a, book := newARM(t, testConfig(), "kubernetes", testFacts()), cases.ReadyLedger()
		v6 := tenantOf(t, a, ofFamilies(0, values, corev1.IPv6Protocol))
		v4, other := tenantOf(t, a, ofFamilies(1, values, corev1.IPv4Protocol)), tenantOf(t, a, ofFamilies(2, values, corev1.IPv4Protocol, corev1.IPv6Protocol))
		_, refused := a.settle(v6.in.Owner, v6, book)
		if len(refused) == 0 || fault.Of(refused[0]) != fault.Pending {
			t.Fatalf("alone: %v", refused)
		}
		for _, tn := range []*tenant{v4, other, v6} {
			a.mustSettle(tn, book)
		}
		book.Leave(v4.in.Owner)
		book.Leave(other.in.Owner)
		a.together(map[stack.Owner]*tenant{v4.in.Owner: nil, other.in.Owner: nil}, book, 100)
		a.mustRelease(v4, book)
		a.mustRelease(other, book)
		if d := a.plan(v6.in.Owner, v6, book); !d.Empty() {
			t.Errorf("the IPv6 Service:\n%s", planText(d))
		}
		for _, lb := range a.lbs {
			if n := len(lb.Props().List(ListFrontends)); n != 2 {
				t.Errorf("%d frontends, want one of each family", n)
			}
		}
		a.mustRelease(v6, book)
		if len(a.lbs) != 0 {
			t.Errorf("left: %v", a.lbs)
		}
		for _, tn := range []*tenant{v4, other} {
			a.mustRelease(tn, book)
		}
		if len(a.pips) != 0 {
			t.Errorf("left: %v", a.pips)
		}
	}
}

// TestRequiredFrontendIsUsedAgain: a Service whose frontend has stayed without rules gets it
// back, and a Service that no longer wants it, because it has another kind now, is at rest.
func TestRequiredFrontendIsUsedAgain(t *testing.T) {
	a, book := newARM(t, testConfig(), "kubernetes", testFacts()), cases.ReadyLedger()
	v6, v4 := tenantOf(t, a, ofFamilies(0, nil, corev1.IPv6Protocol)), tenantOf(t, a, testService(1, nil, 80))
	internal := tenantOf(t, a, testService(1, map[string]string{internalOn: "true"}, 80))
	for _, tn := range []*tenant{v4, v6, internal, v4, internal} {
		a.mustSettle(tn, book)
		if p := a.plan(tn.in.Owner, tn, book); !p.Empty() {
			t.Errorf("not at rest:\n%s", planText(p))
		}
	}
	a.mustRelease(internal, book)
	a.mustRelease(v6, book)
	if len(a.lbs) != 0 {
		t.Errorf("left: %v", a.lbs)
	}
}

// TestPreConfiguredIsReleased: where another controller fills the pools, the load balancer
// and its last frontend stay, without rules. Every Service is released, also the last one,
// and a released frontend does not disturb others.
func TestPreConfiguredIsReleased(t *testing.T) {
	for _, pools := range []string{PoolNodeIP, poolNIC} {
		for _, values := range []map[string]string{nil, {internalOn: "true"}} {
			for _, families := range [][]corev1.IPFamily{{corev1.IPv4Protocol}, {corev1.IPv6Protocol, corev1.IPv4Protocol}} {
				t.Run(fmt.Sprint(pools, values, families), func(t *testing.T) {
					c := testConfig()
					c.PoolType, c.PreConfigured = pools, preAll
					a, book := newARM(t, c, "kubernetes", testFacts()), cases.ReadyLedger()
					one, two := tenantOf(t, a, ofFamilies(0, values, families...)), tenantOf(t, a, ofFamilies(1, values, families...))
					a.mustSettle(one, book)
					a.mustRelease(one, book)
					a.mustSettle(two, book)
					a.mustRelease(two, book)
					a.mustSettle(one, book)
					if p := a.plan(one.in.Owner, one, book); !p.Empty() {
						t.Errorf("not at rest:\n%s", planText(p))
					}
					a.mustRelease(one, book)
					if len(a.lbs) != 1 || len(a.served()) > 0 || len(a.open()) > 0 {
						t.Errorf("left: %s", a.state())
					}
				})
			}
		}
	}
}
