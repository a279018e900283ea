package model

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
)

func TestAddresses(t *testing.T) {
	both := []corev1.IPFamily{corev1.IPv6Protocol, corev1.IPv4Protocol}
	entries := func(lb string, addresses ...string) stack.Resource {
		e := Entries{Balancer: lb}
		for _, a := range addresses {
			e.Frontends = append(e.Frontends, Frontend{Name: a, Address: a})
		}
		return stack.Resource{Key: EntriesKey(lb), Proof: stack.Name, Spec: e}
	}
	open := func(destination string) stack.Resource {
		a := Access{Rule: "r", Family: IPv6, Protocol: "Tcp", Ports: []string{"80"}, Destination: destination}
		if !strings.Contains(destination, ":") {
			a.Family = "IPv4"
		}
		return stack.Resource{Key: accessKey(a.Rule, a.Destination), Proof: stack.Derived, Spec: a}
	}
	denied := open("20.0.0.1")
	denied.Spec = Access{Deny: true, Family: "IPv4", Protocol: "Tcp", Ports: []string{"80"}, Destination: "20.0.0.1"}
	const ranges = "azure-allowed-ip-ranges"
	failed := entries("kubernetes", "20.0.0.9")
	failed.State = stack.Failed
	tests := []struct {
		name     string
		values   map[string]string
		families []corev1.IPFamily
		have     []stack.Resource
		want     []string
	}{
		{"none yet", nil, nil, nil, nil},
		{"none yet, additional ones alone mean nothing", map[string]string{"azure-additional-public-ips": "20.5.5.5"}, nil, nil, nil},
		{"an address that is not there yet", nil, nil, []stack.Resource{entries("kubernetes", "")}, nil},
		{"the primary family first", nil, both, []stack.Resource{entries("kubernetes", "20.0.0.1", "2603::1"), open("20.0.0.1"), open("2603::1")}, []string{"2603::1", "20.0.0.1"}},
		{"not one that the security group keeps closed", nil, nil, []stack.Resource{entries("kubernetes", "20.0.0.1")}, nil},
		{"not one with a rule that denies", nil, nil, []stack.Resource{entries("kubernetes", "20.0.0.1"), denied}, nil},
		{"not one with a rule for another port", nil, nil, []stack.Resource{entries("kubernetes", "20.0.0.1"), otherPort(open("20.0.0.1"))}, nil},
		{"only the family that is open", nil, both, []stack.Resource{entries("kubernetes", "20.0.0.1", "2603::1"), open("20.0.0.1")}, []string{"20.0.0.1"}},
		{"one whose rules the user manages", map[string]string{"azure-disable-load-balancer-nsg-rule": "true"}, nil, []stack.Resource{entries("kubernetes", "20.0.0.1")}, []string{"20.0.0.1"}},
		{"a family that no range admits", map[string]string{ranges: "fd00::/8"}, nil, []stack.Resource{entries("kubernetes", "20.0.0.1")}, []string{"20.0.0.1"}},
		{"an internal one with ranges, closed", map[string]string{internalOn: "true", ranges: "10.0.0.0/8"}, nil, []stack.Resource{entries("kubernetes-internal", "10.0.0.1")}, nil},
		{"the old one while the security group keeps the new one closed", nil, nil, []stack.Resource{entries("kubernetes-internal", "10.0.0.1"), entries("kubernetes", "20.0.0.1")}, []string{"10.0.0.1"}},
		{"additional ones last", map[string]string{"azure-additional-public-ips": "20.5.5.5"}, nil, []stack.Resource{entries("kubernetes", "20.0.0.1"), open("20.0.0.1")}, []string{"20.0.0.1", "20.5.5.5"}},
		{"while it moves the old one", map[string]string{internalOn: "true"}, nil, []stack.Resource{entries("kubernetes", "20.0.0.1")}, []string{"20.0.0.1"}},
		{"then the new one", map[string]string{internalOn: "true"}, nil, []stack.Resource{entries("kubernetes", "20.0.0.1"), entries("kubernetes-internal", "10.0.0.1")}, []string{"10.0.0.1"}},
		{"not one that has failed", nil, nil, []stack.Resource{failed}, nil},
	}
	for _, tt := range tests {
		svc := testService(0, tt.values, 80)
		svc.Spec.IPFamilies = tt.families
		in, _ := inputOf(testConfig(), "kubernetes", svc, nil)
		var got []string
		for _, i := range statusOf(in, &stack.Stack{Resources: tt.have}).Ingress {
			got = append(got, i.IP)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

// otherPort is an entry of the security group for another port.
func otherPort(r stack.Resource) stack.Resource {
	a, _ := r.Spec.(Access)
	a.Ports = []string{"443"}
	r.Spec = a
	return r
}

// TestShadow verifies which resources an invalid Service might want.
func TestShadow(t *testing.T) {
	id := identity{Owner: stack.Owner{Namespace: "shop", Name: "web", UID: "257b9655-5137-4ad2-b091-ef3f07043ad3"}, Cluster: "kubernetes"}
	tests := []struct {
		name string
		spec stack.Spec
		want bool
	}{
		{"a pool", Pool{}, true},
		{"machines", NICs{}, true},
		{"its own public IP", PublicIP{Name: "kubernetes-a257b965551374ad2b091ef3f07043ad", Services: []string{"a/b"}}, true},
		{"a public IP that lists it", PublicIP{Services: []string{"a/b", "shop/web"}}, true},
		{"a public IP of others", PublicIP{Name: "kubernetes-ab", Services: []string{"a/b"}}, false},
		{"an address of one other Service", Access{Alone: true}, false},
		{"an address of many", Access{}, true},
		{"a policy, which is never undone", Policy{}, false},
	}
	for _, tt := range tests {
		if got := mayWant(id, stack.Resource{Spec: tt.spec}); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}

// TestFollow: a Service that cannot be understood keeps what it has, with today's nodes.
func TestFollow(t *testing.T) {
	a, book := newARM(t, testConfig(), "kubernetes", testFacts()), cases.ReadyLedger()
	tn := tenantOf(t, a, testService(0, nil, 80))
	a.settle(tn.in.Owner, tn, book)
	have := a.have(tn.in.Owner)
	if d := cmp.Diff(have.Resources, keepServing(tn.in, a.read(), have).Resources); d != "" {
		t.Errorf("with the same nodes (-have +follow):\n%s", d)
	}
	in, _ := inputOf(a.c, a.cluster, testService(0, nil, 80), testNodes()[:1])
	pool, _ := keepServing(in, a.read(), have).Get(PoolKey("kubernetes", "kubernetes"))
	if d := cmp.Diff([]PoolAddress{{Name: "node-0", IP: "10.240.0.4"}}, pool.Spec.(Pool).Addresses); d != "" {
		t.Errorf("with one node (-want +got):\n%s", d)
	}
}
