package oci_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestSwitched: a load balancer that cannot be made takes no other one away, also where
// nothing waits for the status, as in a plugin.
func TestSwitched(t *testing.T) {
	lb, nlb := props.Service("lb", nil), props.Service("nlb", annotationPairs(prefix+"load-balancer-type", "nlb"))
	props.Switched(t, newSubject, lb, nlb)
	props.Switched(t, newSubject, nlb, lb)
}
