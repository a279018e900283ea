package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
)

// clientsOf lists the sources that the security group allows to an address.
func (a *arm) clientsOf(address string) []string {
	var out []string
	for _, r := range a.nsg.Props().List(ListSecurity) {
		if slices.Contains(Destinations(r), address) {
			out = append(out, prefixField(r, "sourceAddressPrefix")...)
		}
	}
	slices.Sort(out)
	return out
}

// onGateway is a Service that asks for port 80 of the user's public IP.
func onGateway(n int, ranges ...string) *corev1.Service {
	svc := testService(n, map[string]string{"azure-pip-name": "gateway"}, 80)
	svc.Spec.LoadBalancerSourceRanges = ranges
	return svc
}

// TestTakenPortIsNotOpened: a Service moves to a port that another Service has on a public IP
// of the user. Azure refuses the rule, and the other Service's clients stay the only ones,
// whether the conflict is visible beforehand or both move at the same moment.
func TestTakenPortIsNotOpened(t *testing.T) {
	for _, atOnce := range []bool{false, true} {
		a, book := withUserIPs(t), cases.ReadyLedger()
		mover := tenantOf(t, a, testService(0, nil, 80))
		a.mustSettle(mover, book)
		first := tenantOf(t, a, onGateway(7, "10.7.0.0/16"))
		mover = tenantOf(t, a, onGateway(0))
		if atOnce {
			before := tenantOf(t, a, testService(7, nil, 80))
			a.mustSettle(before, book)
			a.together(map[stack.Owner]*tenant{first.in.Owner: first, mover.in.Owner: mover}, book, 100)
		} else {
			a.mustSettle(first, book)
		}
		loser, want := mover, []string{"10.7.0.0/16"}
		if a.settle(first.in.Owner, first, book); first.problems.Errors() {
			loser, want = first, []string{"Internet"}
		}
		winner := first
		if loser == first {
			winner = mover
		}
		a.settle(loser.in.Owner, loser, book)
		says := "is taken by Service " + winner.in.Owner.String() + ", rule " + BaseName(winner.in.Owner.UID)
		if !strings.Contains(strings.Join(loser.problems.Strings(), "; "), says) {
			t.Errorf("at once %v: the Service without the port is told %v", atOnce, loser.problems.Strings())
		}
		if d := cmp.Diff(want, a.clientsOf(gatewayIP)); d != "" {
			t.Errorf("at once %v: clients of the port (-want +got):\n%s", atOnce, d)
		}
		if own := a.clientsOf(a.read().publicIP("rg", publicIPName("kubernetes", BaseName(loser.in.Owner.UID), "", "")).Address); !slices.Equal(own, []string{"Internet"}) {
			t.Errorf("at once %v: at the address that it has, the loser serves %v", atOnce, own)
		}
	}
}

// TestEntryOfNodePortIsClosed: entries for the addresses of nodes precede the rule that sends
// there. If the process stops in between and the Service takes the change back, the next
// process closes them, and those of other Services stay.
func TestEntryOfNodePortIsClosed(t *testing.T) {
	for calls := range 6 {
		a, book := newARM(t, testConfig(), "kubernetes", testFacts()), cases.ReadyLedger()
		off := map[string]string{"azure-disable-load-balancer-floating-ip": "true"}
		other := tenantOf(t, a, testService(7, off, 443))
		a.mustSettle(other, book)
		before := a.open()
		one := tenantOf(t, a, testService(0, nil, 80))
		a.mustSettle(one, book)
		want := a.open()
		a.together(map[stack.Owner]*tenant{one.in.Owner: tenantOf(t, a, testService(0, off, 80))}, book, calls)
		book = cases.ReadyLedger()
		a.mustSettle(other, book)
		a.mustSettle(one, book)
		if d := cmp.Diff(want, a.open()); d != "" || len(before) == 0 {
			t.Errorf("after %d calls: open (-want +got):\n%s", calls, d)
		}
	}
}
