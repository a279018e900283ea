package oci_test

import (
	"maps"
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/oci"
	"github.com/berth-lb/berth/test/props"
)

// TestMistaken: what annotations name and the cloud does not have takes nothing away.
func TestMistaken(t *testing.T) {
	const subnet, group, private = "ocid1.subnet.oc1.iad.nowhere", "ocid1.networksecuritygroup.oc1.iad.nowhere", "ocid1.privateip.oc1.iad.nowhere"
	nlb := annotationPairs(prefix+"load-balancer-type", "nlb")
	own := annotationPairs(prefix+"security-rule-management-mode", "NSG")
	ownNLB := maps.Clone(nlb)
	maps.Copy(ownNLB, own)
	for _, c := range []struct {
		name, prefix string
		subnets      []string
		with, own    map[string]string
	}{
		{"lb", prefix, []string{oldPrefix + "subnet1", oldPrefix + "subnet2"}, nil, own},
		{"nlb", netPrefix, []string{netPrefix + "subnet"}, nlb, ownNLB},
	} {
		t.Run(c.name, func(t *testing.T) {
			plain, guarded := props.Service(c.name, c.with), props.Service(c.name+"-own", c.own)
			for _, key := range c.subnets {
				props.Unheeded(t, newSubject, plain, key, subnet)
			}
			props.Unheeded(t, newSubject, plain, prefix+"reserved-ips", "203.0.113.99")
			props.Unheeded(t, newSubject, props.Service(c.name+"-internal", annotationPairs(prefix+"load-balancer-type", c.name, oldPrefix+"internal", "true", netPrefix+"internal", "true")), prefix+"reserved-private-ips", private)
			props.Mistaken(t, newSubject, plain, c.prefix+"oci-network-security-groups", group)
			props.Mistaken(t, newSubject, guarded, c.prefix+"oci-network-security-groups", group)
			props.Mistaken(t, newSubject, plain, prefix+"compartment-id", "ocid1.compartment.oc1..nowhere")
			props.Mistaken(t, newSubject, guarded, prefix+"oci-backend-network-security-group", group)
		})
	}
}

// TestMisspelt: a misspelt wish for an internal load balancer takes nothing away from a live
// public one.
func TestMisspelt(t *testing.T) {
	cloud := providers.EntryOf(oci.Cloud())
	props.Misspelt(t, newSubject, cloud, props.Service("lb", nil), "service.beta.kubernetes.io/oci-lb-internal", "true")
	props.Misspelt(t, newSubject, cloud, props.Service("nlb", annotationPairs(prefix+"load-balancer-type", "nlb")), netPrefix+"interal", "true")
}

// TestNodeChoice: a malformed selector takes no backends away. One that no node has empties them,
// as with the official controller.
func TestNodeChoice(t *testing.T) {
	props.NodeChoice(t, newSubject, props.Service("lb", nil), prefix+"node-label-selector", "a in b")
	props.NodeChoice(t, newSubject, props.Service("nlb", annotationPairs(prefix+"load-balancer-type", "nlb")), netPrefix+"node-label-selector", "a in b")
}
