package model

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
)

func TestNames(t *testing.T) {
	base := BaseName("257b9655-5137-4ad2-b091-ef3f07043ad3")
	long := strings.Repeat("subnet-7", 10)
	const prefix = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPPrefixes/egress"
	tests := []struct{ what, want, got string }{
		{"base", "a257b965551374ad2b091ef3f07043ad", base},
		{"short uid", "au1", BaseName("u-1")},
		{"frontend", base, frontendName(base, "", "")},
		{"frontend v6", base + "-IPv6", frontendName(base, "", SuffixIPv6)},
		{"frontend subnet", base + "-backend", frontendName(base, "backend", "")},
		{"rule", base + "-TCP-80", ruleName(base, "", corev1.ProtocolTCP, 80, "")},
		{"rule v6 subnet", base + "-backend-UDP-53-IPv6", ruleName(base, "backend", corev1.ProtocolUDP, 53, SuffixIPv6)},
		{"rule cut", base + "-" + long[:75-32-1-7] + "-TCP-80", ruleName(base, long, corev1.ProtocolTCP, 80, "")},
		{"public ip", "kubernetes-" + base, publicIPName("kubernetes", base, "", "")},
		{"public ip of a prefix", "kubernetes-" + base + "-egress-IPv6", publicIPName("kubernetes", base, prefix, SuffixIPv6)},
		{"public ip cut", (strings.Repeat("c", 60) + "-" + base)[:75] + "-IPv6", publicIPName(strings.Repeat("c", 60), base, "", SuffixIPv6)},
		{"pool", "kubernetes", PoolName("kubernetes", corev1.IPv4Protocol)},
		{"pool v6", "kubernetes-IPv6", PoolName("kubernetes", corev1.IPv6Protocol)},
		{"local pool", "shop-web-ipv6", LocalPoolName(stack.Owner{Namespace: "Shop", Name: "Web"}, corev1.IPv6Protocol)},
		{"link", "pls-" + base, linkName(base)},
		{"link ip", "nodes-pls-x-dynamic-0", linkIPName("nodes", "pls-x", "dynamic", "0")},
		{"allow", "k8s-azure-lb_allow_IPv4_d39272f7f57ed937951650d93992ad77", allowName(ipv4, "Tcp", []string{"Internet"}, []string{"80"})},
		{"allow, ports as texts", "k8s-azure-lb_allow_IPv6_556f7044ec033071ec0dfcf7cd85bc93", allowName(IPv6, "Tcp", []string{"Internet"}, []string{"80", "443"})},
		{"deny", "k8s-azure-lb_deny-all_IPv6", denyName(IPv6)},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s = %q, want %q", tt.what, tt.got, tt.want)
		}
	}
	if got := frontendName(base, strings.Repeat("a", 41)+"7more", ""); got != base+"-"+strings.Repeat("a", 41)+"_" || len(got) != 75 {
		t.Errorf("frontend cut at a digit = %q (%d)", got, len(got))
	}
	if got := linkIPName(strings.Repeat("n", 90), "pls", "static", "10.0.0.7"); got != strings.Repeat("n", 64)+"-static-10.0.0.7" {
		t.Errorf("link ip cut = %q (%d)", got, len(got))
	}
}

func TestBaseOf(t *testing.T) {
	base := "a257b965551374ad2b091ef3f07043ad"
	for name, want := range map[string]string{
		base: base, base + "-TCP-80": base, strings.ToUpper(base) + "-IPv6": base, base + "x": "", "aksOutboundRule": "", "a257": "", "b" + base[1:]: "",
	} {
		if got := BaseOf(name); got != want {
			t.Errorf("baseOf(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestIDs(t *testing.T) {
	c := testConfig()
	c.NetworkSubscription, c.VNetGroup, c.BalancerGroup = "net", "VG", "LG"
	for got, want := range map[string]string{
		c.BalancerID("lb"):                   "/subscriptions/net/resourceGroups/lg/providers/Microsoft.Network/loadBalancers/lb",
		c.SubnetID("s"):                      "/subscriptions/net/resourceGroups/vg/providers/Microsoft.Network/virtualNetworks/vnet/subnets/s",
		c.PublicIPID(PublicIPKey("G", "Ip")): "/subscriptions/net/resourceGroups/g/providers/Microsoft.Network/publicIPAddresses/ip",
		PublicIPKeyOf("/subscriptions/x/resourceGroups/G/providers/Microsoft.Network/publicIPAddresses/Ip").Name:                 "g/ip",
		ScaleSetKey("lb", "p", "/subscriptions/x/resourceGroups/G/providers/Microsoft.Compute/virtualMachineScaleSets/Set").Name: "lb/p/g/set",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
