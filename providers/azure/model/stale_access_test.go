package model

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/test/cases"
)

// The public IPs of the user.
const (
	gatewayIP = "20.9.9.9"
	secondIP  = "20.9.9.10"
)

// withUserIPs returns an arm with the public IPs of the user.
func withUserIPs(t testing.TB) *arm {
	a := newARM(t, testConfig(), "kubernetes", testFacts())
	for name, address := range map[string]string{"gateway": gatewayIP, "second": secondIP} {
		a.pips["rg/"+name] = a.wire(Object{
			"name": name, "id": a.c.PublicIPID(PublicIPKey("rg", name)), "sku": map[string]any{"name": "Standard"},
			"properties": map[string]any{"ipAddress": address, "publicIPAddressVersion": ipv4},
		})
		a.asked = append(a.asked, name, address)
	}
	return a
}

// admitted lists the open ports of an address.
func (a *arm) admitted(address string) []string {
	var out []string
	for _, r := range a.nsg.Props().List(ListSecurity) {
		if slices.Contains(Destinations(r), address) {
			out = append(out, portsOf(r.Props())...)
		}
	}
	slices.Sort(out)
	return out
}

// TestUserAddressIsClosed: a Service leaves a public IP of the user, and the process stops
// after any of its calls. The next process closes the address, although neither a tag nor a
// frontend shows whose it was. While another Service has the address, only the ports of that
// one stay open.
func TestUserAddressIsClosed(t *testing.T) {
	to := map[string]map[string]string{
		"managed": nil, "internal": {internalOn: "true"}, "second": {"azure-pip-name": "second"}, "second by address": {"azure-load-balancer-ipv4": secondIP},
	}
	for name, values := range to {
		for _, shared := range []bool{false, true} {
			for calls := range 8 {
				t.Run(fmt.Sprint(name, "/", shared, "/", calls), func(t *testing.T) {
					a, book := withUserIPs(t), cases.ReadyLedger()
					var stays []string
					other := tenantOf(t, a, testService(7, map[string]string{"azure-load-balancer-ipv4": gatewayIP}, 443))
					before := tenantOf(t, a, testService(0, map[string]string{"azure-pip-name": "gateway"}, 80))
					a.mustSettle(before, book)
					if shared {
						a.mustSettle(other, book)
						stays = []string{"443"}
					}
					after := tenantOf(t, a, testService(0, values, 80))
					a.together(map[stack.Owner]*tenant{after.in.Owner: after}, book, calls)
					book = cases.ReadyLedger()
					if shared {
						a.mustSettle(other, book)
					}
					a.mustSettle(after, book)
					if d := cmp.Diff(stays, a.admitted(gatewayIP)); d != "" {
						t.Errorf("open at the address that the Service has left (-want +got):\n%s", d)
					}
				})
			}
		}
	}
}

func (a *arm) mustSettle(tn *tenant, book *ledger.Ledger) {
	a.t.Helper()
	if _, refused := a.settle(tn.in.Owner, tn, book); len(refused) > 0 || tn.problems.Errors() {
		a.t.Fatal(refused, tn.problems.Strings())
	}
}

// TestUserAddressStaysOpen: entries for a public IP of the user that is no frontend of the
// cluster are retained where a Service uses it beside its own address, may use it, or where
// the public IP is a frontend of a load balancer that is not the cluster's.
func TestUserAddressStaysOpen(t *testing.T) {
	for _, by := range []string{"additional address", "unknown Service", "other load balancer"} {
		t.Run(by, func(t *testing.T) {
			a, book := withUserIPs(t), cases.ReadyLedger()
			beside := tenantOf(t, a, testService(7, map[string]string{"azure-additional-public-ips": gatewayIP}, 443))
			a.mustSettle(beside, book)
			switch by {
			case "unknown Service":
				book = cases.ReadyLedger()
				book.EnterUnknown(beside.in.Owner, func(r stack.Resource) bool { return mayWant(beside.in.Identity, r) })
			case "other load balancer":
				book = cases.ReadyLedger()
				a.pips["rg/gateway"].Props()["ipConfiguration"] = IDObject(ARMID("sub", "rg", "loadBalancers", "theirs") + "/" + ListFrontends + "/one")
			}
			one := tenantOf(t, a, testService(0, nil, 80))
			a.mustSettle(one, book)
			if d := cmp.Diff([]string{"443"}, a.admitted(gatewayIP)); d != "" {
				t.Errorf("open (-want +got):\n%s", d)
			}
		})
	}
}

// TestNamedAddressStaysOpen: an invalid Service keeps its ports open at the addresses that it
// names beside its own, even where another part of the same annotation is invalid, and closes
// other ports there.
func TestNamedAddressStaysOpen(t *testing.T) {
	for _, address := range []string{gatewayIP, "20.7.7.7"} { // one of the group, and one that is in no list
		a, book := withUserIPs(t), cases.ReadyLedger()
		a.mustSettle(tenantOf(t, a, testService(0, map[string]string{"azure-additional-public-ips": address}, 80)), book)
		a.mustSettle(tenantOf(t, a, testService(7, map[string]string{"azure-additional-public-ips": address}, 443)), book)
		in, problems := inputOf(a.c, a.cluster, testService(0, map[string]string{"azure-additional-public-ips": "nowhere, " + address}, 80), testNodes())
		if !problems.Errors() {
			t.Fatal("the Service is valid")
		}
		var open []string
		for _, r := range keepServing(in, a.read(), a.have(in.Owner)).Of(KindAccess) {
			if entry, _ := r.Spec.(Access); entry.Destination == address {
				open = append(open, entry.Ports...)
			}
		}
		if d := cmp.Diff([]string{"80"}, open); d != "" {
			t.Errorf("%s: retained (-want +got):\n%s", address, d)
		}
	}
}
