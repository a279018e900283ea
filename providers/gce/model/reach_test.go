package model

import (
	cmpkit "cmp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

func reachOf(config Config, svc *corev1.Service) providers.Reach {
	kind := chooseKind(svc).Kind
	bag, _ := Annotations().Parse(kind, annotations.SourceOf(svc))
	return computeReach(input{Identity: providers.Identity[Config]{Config: config}, Service: svc, Kind: kind, Values: bag})
}

// flaggedConfigs returns the configurations that choose another kind of the same
// scheme.
func flaggedConfigs() (subsetting, netLB Config) {
	subsetting.Subsetting, netLB.NetLBDefault = true, true
	return subsetting, netLB
}

func annotatedService(pairs ...string) *corev1.Service {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}}}
	for i := 0; i < len(pairs); i += 2 {
		svc.Annotations[pairs[i]] = pairs[i+1]
	}
	return svc
}

// TestReachOfScheme has every spelling that the official controllers tell apart:
// two keys, two words, and the classes, which win.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_annotations.go;
// kubernetes/ingress-gce:pkg/l4/annotations/service.go.
func TestReachOfScheme(t *testing.T) {
	subsetting, netLB := flaggedConfigs()
	for _, key := range []string{"networking.gke.io/load-balancer-type", "cloud.google.com/load-balancer-type"} {
		for value, internet := range map[string]bool{
			"Internal": false, "internal": false, "External": true, "external": true, "": true, "INTERNAL": true, "true": true,
		} {
			for _, config := range []Config{{}, subsetting, netLB} {
				got := reachOf(config, annotatedService(key, value))
				if got.Internet != internet || got.Internal != "Internal" || (value != "" && got.Scheme.Key != key) {
					t.Errorf("%s %q, %+v: got %+v", key, value, config, got)
				}
			}
		}
	}
	// The newer key is read, not the older one beside it.
	if got := reachOf(Config{}, annotatedService("networking.gke.io/load-balancer-type", "External", "cloud.google.com/load-balancer-type", "Internal")); !got.Internet {
		t.Errorf("the older key wins: %+v", got)
	}
	for class, internet := range map[string]bool{classExternal: true, classExternalLegacy: true, classInternal: false, classInternalLegacy: false} {
		for _, value := range []string{"", "Internal", "External"} {
			svc := annotatedService("networking.gke.io/load-balancer-type", value)
			svc.Spec.LoadBalancerClass = &class
			got := reachOf(Config{}, svc)
			want := annotations.Origin{Source: annotations.FromClass, Key: "spec.loadBalancerClass", Raw: class}
			if got.Internet != internet || got.Scheme != want || got.Internal != classInternal {
				t.Errorf("class %s, type %q: got %+v", class, value, got)
			}
		}
	}
	own := "example.com/mine"
	svc := annotatedService("networking.gke.io/load-balancer-type", "Internal")
	svc.Spec.LoadBalancerClass = &own
	if got := reachOf(Config{}, svc); got.Internet || got.Scheme.Key != "networking.gke.io/load-balancer-type" {
		t.Errorf("a class that says nothing: %+v", got)
	}
	if got := reachOf(Config{}, annotatedService()); !got.Internet || got.Scheme.Key != typeKey.Name || got.Kind != TargetPool {
		t.Errorf("nothing said: %+v", got)
	}
}

// TestReachOfKind: what would be made today, whatever the Service says by itself.
func TestReachOfKind(t *testing.T) {
	subsetting, netLB := flaggedConfigs()
	for _, c := range []struct {
		config Config
		svc    *corev1.Service
		want   string
	}{
		{Config{}, annotatedService(), TargetPool},
		{netLB, annotatedService(), NetLB},
		{Config{}, annotatedService(rbsKey.Name, "enabled"), NetLB},
		{Config{}, annotatedService(typeKey.Name, "Internal"), InternalIG},
		{subsetting, annotatedService(typeKey.Name, "Internal"), InternalNEG},
	} {
		if got := reachOf(c.config, c.svc).Kind; got != c.want {
			t.Errorf("%+v, %v: got %s, want %s", c.config, c.svc.Annotations, got, c.want)
		}
	}
}

func TestReachOfNames(t *testing.T) {
	external := annotatedService(rbsKey.Name, "enabled", addressesKey.Name, "web,web-v6", collectionKey.Name, "projects/p/d", subnetKeyV2.Name, "dual")
	internal := annotatedService(typeKey.Name, "Internal", internalSubnetKey.Name, "ilb")
	internal.Spec.LoadBalancerIP = "10.0.0.5"
	want := []providers.Naming{
		{Thing: annotations.ThingAddress, Key: addressesKey.Name, Value: "web"},
		{Thing: annotations.ThingAddress, Key: addressesKey.Name, Value: "web-v6"},
		{Thing: annotations.ThingAddressPrefix, Key: collectionKey.Name, Value: "projects/p/d"},
		{Thing: annotations.ThingSubnet, Key: subnetKeyV2.Name, Value: "dual"},
		{Thing: annotations.ThingAddress, Key: "spec.loadBalancerIP", Value: "10.0.0.5"},
		{Thing: annotations.ThingSubnet, Key: internalSubnetKey.Name, Value: "ilb"},
	}
	got := append(reachOf(Config{}, external).Names, reachOf(Config{}, internal).Names...)
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
