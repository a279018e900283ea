package gce_test

import (
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/gce"
	"github.com/berth-lb/berth/test/props"
)

// TestMistaken: what annotations name and Google Cloud does not have takes nothing away.
func TestMistaken(t *testing.T) {
	const prefix = "networking.gke.io/"
	const external, internal, nowhere = "l4-regional-external", "l4-regional-internal", "nowhere"
	mistaken := func(c props.Case, key, value string) { props.Mistaken(t, newSubject(""), c, prefix+key, value) }
	mistaken(serviceCase("ilb-ig", "l4-regional-internal-legacy", nil), "internal-load-balancer-subnet", nowhere)
	mistaken(serviceCase("ilb-neg", internal, nil), "internal-load-balancer-subnet", nowhere)
	mistaken(serviceCase("ilb-neg-local", internal, nil, props.Local), "load-balancer-subnet", nowhere)
	mistaken(serviceCase("ilb-neg-dual", internal, map[string]string{prefix + "load-balancer-subnet": "berth-demo-dual-internal"}, props.Dual), "load-balancer-subnet", nowhere)
	mistaken(serviceCase("netlb-dual", external, map[string]string{prefix + "load-balancer-subnet": "berth-demo-dual"}, props.Dual), "load-balancer-subnet", nowhere)
	mistaken(serviceCase("netlb", external, nil), "ip-collection-v6", "projects/p/regions/r/publicDelegatedPrefixes/nowhere")
	for name, class := range map[string]string{"netlb": external, "ilb-neg": internal} {
		props.Unheeded(t, newSubject(""), serviceCase(name, class, nil), prefix+"load-balancer-ip-addresses", nowhere)
	}
}

// TestMisspelt: a misspelt wish for an internal load balancer takes nothing away from a live
// public one.
func TestMisspelt(t *testing.T) {
	cloud := providers.EntryOf(gce.Cloud())
	props.Misspelt(t, newSubject(""), cloud, serviceCase("target-pool", "", nil), "networking.gke.io/loadbalancer-type", "Internal")
	props.Misspelt(t, newSubject(""), cloud, serviceCase("netlb", "", map[string]string{"cloud.google.com/l4-rbs": "enabled"}), "networking.gke.io/load-balancer-type", "internal ")
}
