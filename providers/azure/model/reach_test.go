package model

import (
	cmpkit "cmp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

func reachOf(values map[string]string, address string) providers.Reach {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: values}, Spec: corev1.ServiceSpec{LoadBalancerIP: address}}
	kind := chooseKind(svc).Kind
	bag, _ := Annotations().Parse(kind, annotations.SourceOf(svc))
	return computeReach(input{Service: svc, Kind: kind, Values: bag})
}

// TestReachOfScheme has every spelling that the official controller distinguishes. Only
// "true" makes its load balancer internal. Further spellings are internal for Berth alone,
// as for half of the official controller.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go
// (requiresInternalLoadBalancer).
func TestReachOfScheme(t *testing.T) {
	for value, internet := range map[string]bool{
		"": true, "false": true, "False": true, "1": true, "yes": true, "internal": true, "true": false, "True": false, "TRUE": false,
	} {
		got := reachOf(map[string]string{internalKey.Name: value}, "")
		if got.Internet != internet || got.Scheme.Key != internalKey.Name || got.Internal != "true" {
			t.Errorf("internal %q: got %+v", value, got)
		}
	}
	if got := reachOf(nil, ""); !got.Internet || got.Scheme.Key != internalKey.Name {
		t.Errorf("nothing said: got %+v", got)
	}
}

func TestReachOfNames(t *testing.T) {
	prefix := "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPPrefixes/p"
	configurations := strings.ToUpper(configurationsKey.Name) // is read in any case
	got := reachOf(map[string]string{
		pipNameKey.Name: "a", pipNameV6Key.Name: "b", ipv4Key.Name: "20.0.0.1", additionalKey.Name: "20.0.0.2, 20.0.0.3",
		pipPrefixKey.Name: prefix, dnsKey.Name: "shop", configurations: "lb1,lb2", groupKey.Name: "net",
	}, "20.0.0.9").Names
	internal := reachOf(map[string]string{internalKey.Name: "true", subnetKey.Name: "backend", linkNameKey.Name: "link",
		linkGroupKey.Name: "links", linkSubnetKey.Name: "link-net", linkIPsKey.Name: "10.0.0.7 10.0.0.8"}, "").Names
	want := []providers.Naming{
		{Thing: annotations.ThingAddress, Key: pipNameKey.Name, Value: "a"},
		{Thing: annotations.ThingAddress, Key: pipNameV6Key.Name, Value: "b"},
		{Thing: annotations.ThingAddress, Key: ipv4Key.Name, Value: "20.0.0.1"},
		{Thing: annotations.ThingAddress, Key: additionalKey.Name, Value: "20.0.0.2"},
		{Thing: annotations.ThingAddress, Key: additionalKey.Name, Value: "20.0.0.3"},
		{Thing: annotations.ThingAddress, Key: "spec.loadBalancerIP", Value: "20.0.0.9"},
		{Thing: annotations.ThingAddressPrefix, Key: pipPrefixKey.Name, Value: prefix},
		{Thing: annotations.ThingDNSLabel, Key: dnsKey.Name, Value: "shop"},
		{Thing: annotations.ThingLoadBalancer, Key: configurations, Value: "lb1"},
		{Thing: annotations.ThingLoadBalancer, Key: configurations, Value: "lb2"},
		{Thing: annotations.ThingResourceGroup, Key: groupKey.Name, Value: "net"},
		{Thing: annotations.ThingAddress, Key: linkIPsKey.Name, Value: "10.0.0.7"},
		{Thing: annotations.ThingAddress, Key: linkIPsKey.Name, Value: "10.0.0.8"},
		{Thing: annotations.ThingLink, Key: linkNameKey.Name, Value: "link"},
		{Thing: annotations.ThingResourceGroup, Key: linkGroupKey.Name, Value: "links"},
		{Thing: annotations.ThingSubnet, Key: subnetKey.Name, Value: "backend"},
		{Thing: annotations.ThingSubnet, Key: linkSubnetKey.Name, Value: "link-net"},
	}
	got = append(got, internal...)
	slices.SortFunc(want, compareNamings)
	slices.SortFunc(got, compareNamings)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// compareNamings orders namings by key and value.
func compareNamings(a, b providers.Naming) int {
	return cmpkit.Or(cmpkit.Compare(a.Key, b.Key), cmpkit.Compare(a.Value, b.Value))
}
