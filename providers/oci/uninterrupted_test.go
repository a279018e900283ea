package oci_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestUninterrupted: clients of a changed Service are served whatever Oracle Cloud refuses, also
// where nothing waits for the status, as in a plugin.
func TestUninterrupted(t *testing.T) {
	const kind, mode = prefix + "load-balancer-type", prefix + "security-rule-management-mode"
	lb, nlb := props.Service("lb", nil), props.Service("nlb", annotationPairs(kind, "nlb"))
	props.Uninterrupted(t, newSubject, lb, nlb)
	props.Uninterrupted(t, newSubject, nlb, lb)
	for _, c := range []props.Case{lb, nlb, props.Service("lb-own", annotationPairs(mode, "NSG")), props.Service("nlb-own", annotationPairs(kind, "nlb", mode, "NSG"))} {
		props.Uninterrupted(t, newSubject, c, props.Renumbered(c))
	}
}
