package gce_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	raw "google.golang.org/api/compute/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// TestOwnPrefix: an external IPv6 address is taken from the user's prefix, or is the address
// that the user has reserved in it, and one reserved elsewhere is refused.
func TestOwnPrefix(t *testing.T) {
	const region, prefix = "us-central1", "projects/" + demo + "/regions/us-central1/publicDelegatedPrefixes/ours"
	for name, want := range map[string]string{"": "2001:db8:5::1:0:0", "reserved": "2001:db8:5::1:0:0", "elsewhere": ""} {
		t.Run("named "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := slowCloud(t, 0)
				doc := wire.Object{"ipCidrRange": "2001:db8:5::/64", "mode": "EXTERNAL_IPV6_FORWARDING_RULE_CREATION"}
				if err := n.cloud.Compute.Load(prefix, doc, time.Now()); err != nil {
					t.Fatal(err)
				}
				api := n.user(t)
				for _, a := range []*raw.Address{
					{Name: "reserved", IpCollection: prefix},
					{Name: "elsewhere", Subnetwork: "regions/" + region + "/subnetworks/berth-demo-dual"},
				} {
					a.IpVersion, a.Ipv6EndpointType = "IPV6", "NETLB"
					if a.Name != name {
						continue
					}
					if _, err := api.Addresses.Insert(demo, region, a).Do(); err != nil {
						t.Fatal(err)
					}
				}
				svc := serviceCase("web", "l4-regional-external", map[string]string{"networking.gke.io/ip-collection-v6": prefix}).Service
				if name != "" {
					svc.Annotations["networking.gke.io/load-balancer-ip-addresses"] = name
				}
				svc.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv6Protocol}
				r := n.process(t)
				if want == "" {
					wantProblem(t, runRounds(t, r, svc), "load-balancer-ip-addresses", "elsewhere", "is not from "+prefix)
					return
				}
				reconcileFully(t, r, svc, reconcile.Job{NeverProvisioned: true})
				if got := svc.Status.LoadBalancer.Ingress; len(got) != 1 || got[0].IP != want {
					t.Errorf("published %v, want %s", got, want)
				}
				svc.Spec.Ports[0].Port = 8080 // the rule is replaced and keeps the address
				reconcileFully(t, r, svc, reconcile.Job{})
				if got := svc.Status.LoadBalancer.Ingress; len(got) != 1 || got[0].IP != want {
					t.Errorf("after a change published %v, want %s", got, want)
				}
				list, err := api.ForwardingRules.List(demo, region).Do()
				if err != nil || len(list.Items) != 1 || !strings.HasSuffix(list.Items[0].IpCollection, prefix) {
					t.Errorf("the rule is not from the prefix: %v, %v", list.Items, err)
				}
				time.Sleep(time.Minute) // what gathers calls ends
			})
		})
	}
}
