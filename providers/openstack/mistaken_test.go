package openstack_test

import (
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/openstack"
	"github.com/berth-lb/berth/test/props"
)

// TestMistaken: what annotations name and the cloud does not have takes nothing away.
func TestMistaken(t *testing.T) {
	const nowhere = "11111111-2222-3333-4444-555555555555"
	const keyManager = "https://barbican.example/v1/containers/"
	for name, config := range map[string]string{
		"plain": "", "serial": "provider-requires-serial-api-calls = true\ncascade-delete = false\n", "groups": managed,
	} {
		t.Run(name, func(t *testing.T) {
			plain := props.Service("plain", nil)
			mistaken := func(c props.Case, key, value string) {
				props.Mistaken(t, newSubject(config), c, prefix+key, value)
			}
			mistaken(plain, "member-subnet-id", nowhere)
			mistaken(props.Service("local", prefixedKeys("enable-health-monitor", "true"), props.Local), "member-subnet-id", "?")
			mistaken(plain, "floating-subnet-id", nowhere)
			mistaken(plain, "floating-subnet-id", "?")
			mistaken(plain, "floating-subnet", "private-*")
			mistaken(plain, "floating-subnet-tags", "nobody-has-it")
			mistaken(plain, "default-tls-container-ref", keyManager+nowhere)
			mistaken(plain, "default-tls-container-ref", keyManager+"?")
			mistaken(plain, "floating-network-id", nowhere)
			// Without any range of its family a listener would admit everyone.
			props.Mistaken(t, newSubject(config), plain, "service.beta.kubernetes.io/load-balancer-source-ranges", "2001:db8::/32")
			for _, key := range []string{"subnet-id", "network-id", "flavor-id", "availability-zone", "port-id"} {
				props.Unheeded(t, newSubject(config), plain, prefix+key, nowhere)
			}
		})
	}
}

// TestMisspelt: a misspelt wish for an internal load balancer takes nothing away from a live
// public one.
func TestMisspelt(t *testing.T) {
	cloud := providers.EntryOf(openstack.Cloud())
	props.Misspelt(t, newSubject(managed), cloud, props.Service("plain", nil), prefix+"internal-load-balancer", "true")
	props.Misspelt(t, newSubject(managed), cloud, props.Service("plain", nil), "service.beta.kubernetes.io/openstack-internal-load-balancer", "True")
}

// TestNodeChoice: a selector that no node has takes no members away.
func TestNodeChoice(t *testing.T) {
	props.NodeChoice(t, newSubject(""), props.Service("plain", nil), prefix+"node-selector", "role=nowhere", "a=b=c")
}
