package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
)

func testConfig() Config {
	return Config{Identity: Identity{ClusterID: "1a2b3c4d5e6f7081", ClusterUID: "9f8e7d6c5b4a3928", SystemUID: "kubesystem-uid1"}}
}

func testOwner(ns, name string) stack.Owner {
	return stack.Owner{Namespace: ns, Name: name, UID: "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"}
}

// TestNames has the test vector of the official namer: U is 7kpbhpki, H 956p2p7x.
// Source: kubernetes/ingress-gce:pkg/utils/namer/l4_namer_test.go.
func TestNames(t *testing.T) {
	got := map[string][]string{}
	for _, n := range OwnNames(testConfig(), testOwner("namespace", "name")) {
		key := string(n.Key.Kind)
		got[key] = append(got[key], n.Key.Name+": "+n.Name)
	}
	rules := []string{
		"ipv4: a0f1e2d3c4b5a69788796a5b4c3d2e1f", "ipv6: a0f1e2d3c4b5a69788796a5b4c3d2e1f-ipv6",
		"tcp: k8s2-tcp-7kpbhpki-namespace-name-956p2p7x", "udp: k8s2-udp-7kpbhpki-namespace-name-956p2p7x",
		"l3: k8s2-l3-7kpbhpki-namespace-name-956p2p7x", "tcp-ipv6: k8s2-tcp-7kpbhpki-namespace-name-956p2p7x-ipv6",
		"udp-ipv6: k8s2-udp-7kpbhpki-namespace-name-956p2p7x-ipv6", "l3-ipv6: k8s2-l3-7kpbhpki-namespace-name-956p2p7x-ipv6",
	}
	want := map[string][]string{
		"forwarding-rule": rules, "address": rules,
		"target-pool":            {": a0f1e2d3c4b5a69788796a5b4c3d2e1f"},
		"backend-service":        {"legacy: a0f1e2d3c4b5a69788796a5b4c3d2e1f", "v2: k8s2-7kpbhpki-namespace-name-956p2p7x"},
		"http-health-check":      {"legacy: a0f1e2d3c4b5a69788796a5b4c3d2e1f"},
		"health-check":           {"legacy: a0f1e2d3c4b5a69788796a5b4c3d2e1f", "v2: k8s2-7kpbhpki-namespace-name-956p2p7x"},
		"regional-health-check":  {"v2: k8s2-7kpbhpki-namespace-name-956p2p7x"},
		"network-endpoint-group": {": k8s2-7kpbhpki-namespace-name-956p2p7x", ": k8s2-7kpbhpki-namespace-name-*-956p2p7x"},
		"firewall": {
			"legacy: k8s-fw-a0f1e2d3c4b5a69788796a5b4c3d2e1f", "old: a0f1e2d3c4b5a69788796a5b4c3d2e1f",
			"v2: k8s2-7kpbhpki-namespace-name-956p2p7x", "v2-ipv6: k8s2-7kpbhpki-namespace-name-956p2p7x-ipv6",
		},
		"deny-firewall": {
			"legacy: k8s-fw-a0f1e2d3c4b5a69788796a5b4c3d2e1f-deny", "v2: k8s2-7kpbhpki-namespace-name-956p2p7x-deny",
			"v2-ipv6: k8s2-7kpbhpki-namespace-name-956p2p7x-deny-ipv6",
		},
		"health-check-firewall": {
			"legacy-pool: k8s-a0f1e2d3c4b5a69788796a5b4c3d2e1f-http-hc", "legacy: a0f1e2d3c4b5a69788796a5b4c3d2e1f-hc",
			"v2: k8s2-7kpbhpki-namespace-name-956p2p7x-fw", "v2-ipv6: k8s2-7kpbhpki-namespace-name-956p2p7x-fw-ipv6",
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestSharedNames(t *testing.T) {
	var got []string
	for _, n := range SharedNames(testConfig()) {
		got = append(got, string(n.Key.Kind)+" "+n.Name)
	}
	want := []string{
		"backend-service k8s-1a2b3c4d5e6f7081-internal-tcp-nmv1-6eef6648406c333a", "backend-service k8s-1a2b3c4d5e6f7081-internal-tcp-nmv1-1668fd70f588116e",
		"backend-service k8s-1a2b3c4d5e6f7081-internal-udp-nmv1-6eef6648406c333a", "backend-service k8s-1a2b3c4d5e6f7081-internal-udp-nmv1-1668fd70f588116e",
		"http-health-check k8s-1a2b3c4d5e6f7081-node", "health-check k8s-1a2b3c4d5e6f7081-node",
		"health-check k8s2-7kpbhpki-l4-shared-hc", "regional-health-check k8s2-7kpbhpki-l4-shared-hc",
		"health-check-firewall k8s-1a2b3c4d5e6f7081-node-http-hc", "health-check-firewall k8s-1a2b3c4d5e6f7081-node-hc",
		"health-check-firewall k8s2-7kpbhpki-l4-shared-hc-fw", "health-check-firewall k8s2-7kpbhpki-l4-shared-hc-fw-ipv6",
		"instance-group k8s-ig--1a2b3c4d5e6f7081", "instance-group k8s-ig--9f8e7d6c5b4a3928",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestLongNames: no name is longer than GCE allows, and all but those marked as
// ambiguous tell two Services apart whose long names differ at the end only.
func TestLongNames(t *testing.T) {
	long := "an-extremely-long-name-that-has-a-different-end-than-another-"
	a, b := OwnNames(testConfig(), testOwner("default", long+"a")), OwnNames(testConfig(), testOwner("default", long+"b"))
	for i := range a {
		if len(strings.ReplaceAll(a[i].Name, "*", "012345")) > maxName {
			t.Errorf("%s is longer than %d", a[i].Name, maxName)
		}
		byUID := strings.Contains(a[i].Name, "a0f1e2d3c")
		if same := a[i].Name == b[i].Name; same != (a[i].Ambiguous || byUID) {
			t.Errorf("%s %s and %s: same %t, ambiguous %t", a[i].Key, a[i].Name, b[i].Name, same, a[i].Ambiguous)
		}
	}
	name, _ := NamesOf(testConfig(), testOwner("default", "an-extremely-long-name-that-has-a-different-end")).checkFirewallIPv6()
	if !strings.HasSuffix(name, "--fw-ipv6") || len(name) != maxName {
		t.Errorf("%s: want the official name, which has lost the hash", name)
	}
	if whole := NamesOf(testConfig(), testOwner("default", long)).checkFirewallIPv6Whole(); len(whole) > maxName || strings.Contains(whole, "--") {
		t.Errorf("%s: has not kept the hash", whole)
	}
}

// TestTrimmed: characters that are left over go to the first fields.
func TestTrimmed(t *testing.T) {
	for _, tt := range []struct {
		limit  int
		fields []string
		want   string
	}{
		{10, []string{"abcde", "fghij"}, "abcde-fghij"},
		{9, []string{"abcde", "fghij"}, "abcde-fghi"},
		{4, []string{"abcdefghij", "k"}, "abcd-"},
		{6, []string{"abcdef", "ghijkl"}, "abc-ghi"},
	} {
		if got := trimFields(tt.limit, tt.fields...); got != tt.want {
			t.Errorf("trimmed(%d, %q) = %q, want %q", tt.limit, tt.fields, got, tt.want)
		}
	}
}

func TestGroupName(t *testing.T) {
	for _, tt := range []struct{ id, uid, older, newer string }{
		{"", "", "k8s-ig", "k8s-ig"},
		{"1a", "", "k8s-ig--1a", "k8s-ig--1a"},
		{"1a", "2b", "k8s-ig--1a", "k8s-ig--2b"},
		{"1a", "x--3c", "k8s-ig--1a", "k8s-ig--3c"},
		{"", strings.Repeat("u", 60), "k8s-ig", "k8s-ig--" + strings.Repeat("u", 54) + "0"},
	} {
		c := Config{Identity: Identity{ClusterID: tt.id, ClusterUID: tt.uid}}
		if older, newer := c.GroupName(InternalIG), c.GroupName(NetLB); older != tt.older || newer != tt.newer {
			t.Errorf("%+v: %s and %s", tt, older, newer)
		}
	}
}

// TestFirewallChecks: from the name of every shared firewall follow its checks.
func TestFirewallChecks(t *testing.T) {
	shared := SharedNames(testConfig())
	for _, n := range shared {
		if n.Key.Kind != KindCheckFirewall {
			continue
		}
		known := false
		for _, k := range FirewallChecks(n.Name) {
			known = known || slices.ContainsFunc(shared, func(m Name) bool { return m.Key == k })
		}
		if !known {
			t.Errorf("%s: checks %v are none of the cluster's", n.Name, FirewallChecks(n.Name))
		}
	}
}

func TestPaths(t *testing.T) {
	url := "https://www.googleapis.com/compute/v1/projects/p/regions/r/subnetworks/s"
	if got := ProjectPathOf(url); got != "projects/p/regions/r/subnetworks/s" {
		t.Error(got)
	}
	for _, in := range []string{url, "/regions/r/subnetworks/s", "projects/p/regions/r/subnetworks/s", "regions/r/subnetworks/s"} {
		if got := PathOf(in); got != "regions/r/subnetworks/s" {
			t.Errorf("pathOf(%s) = %s", in, got)
		}
	}
	if hash, ok := MatchName("k8s2-u-*-h", "k8s2-u-0a1b2c-h"); !ok || hash != "0a1b2c" {
		t.Error(hash, ok)
	}
	if _, ok := MatchName("k8s2-u-*-h", "k8s2-u-0a1b2g-h"); ok {
		t.Error("g is no hex digit")
	}
}

// TestDescriptions are compared byte by byte, blanks and all.
func TestDescriptions(t *testing.T) {
	o := testOwner("default", "web")
	got := []string{
		legacyDescription(ServiceName(o)), legacyIPDescription(o, "203.0.113.7"), clusterDescription("1a"),
		v2Description{ServiceName: ServiceName(o), APIVersion: apiVersionGA, ServiceIP: "203.0.113.7"}.String(),
		sharedDescription("ILB"), sharedDescription(""), negDescriptionOf(testConfig(), o).String(),
	}
	want := []string{
		`{"kubernetes.io/service-name":"default/web"}`,
		`{"kubernetes.io/service-name":"default/web", "kubernetes.io/service-ip":"203.0.113.7"}`,
		`{"kubernetes.io/cluster-id":"1a"}`,
		`{"networking.gke.io/service-name":"default/web","networking.gke.io/api-version":"ga","networking.gke.io/service-ip":"203.0.113.7"}`,
		`{"networking.gke.io/service-name":"","networking.gke.io/api-version":"ga","networking.gke.io/resource-description":"This resource is shared by all L4 ILB Services using ExternalTrafficPolicy: Cluster."}`,
		`{"networking.gke.io/service-name":"","networking.gke.io/api-version":"ga","networking.gke.io/resource-description":"This resource is shared by all L4  Services using ExternalTrafficPolicy: Cluster."}`,
		`{"cluster-uid":"kubesystem-uid1","namespace":"default","service-name":"web","port":"0"}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	for text, ours := range map[string]bool{
		"": true, "my own": true, "{}": true, got[6]: true, strings.Replace(got[6], "web", "other", 1): false,
		strings.Replace(got[6], "kubesystem", "another", 1): false,
	} {
		if NegIsOurs(testConfig(), o, text) != ours {
			t.Errorf("%q: ours is not %t", text, ours)
		}
	}
}
