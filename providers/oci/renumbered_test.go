package oci_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestRenumbered verifies that no old port is removed before the new ports exist.
func TestRenumbered(t *testing.T) {
	nlb := annotationPairs(prefix+"load-balancer-type", "nlb")
	props.Renumbered(t, newSubject, props.Service("lb", nil))
	props.Renumbered(t, newSubject, props.Service("nlb", nlb))
	props.Renumbered(t, newSubject, props.Service("lb-own", annotationPairs(prefix+"security-rule-management-mode", "NSG")))
	props.Renumbered(t, newSubject, props.Service("nlb-own", annotationPairs(prefix+"load-balancer-type", "nlb", prefix+"security-rule-management-mode", "NSG")))
}
