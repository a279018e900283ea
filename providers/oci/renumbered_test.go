package oci_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestRenumbered verifies that no old port is removed before the new ports exist.
func TestRenumbered(t *testing.T) {
	nlb := with(prefix+"load-balancer-type", "nlb")
	props.Renumbered(t, fresh, props.Service("lb", nil))
	props.Renumbered(t, fresh, props.Service("nlb", nlb))
	props.Renumbered(t, fresh, props.Service("lb-own", with(prefix+"security-rule-management-mode", "NSG")))
	props.Renumbered(t, fresh, props.Service("nlb-own", with(prefix+"load-balancer-type", "nlb", prefix+"security-rule-management-mode", "NSG")))
}
