package oci_test

import (
	"testing"

	"github.com/berth-lb/berth/providers/oci"
	"github.com/berth-lb/berth/test/props"
)

// TestNamesRefused verifies that a policy that lets nothing be named holds while a process runs.
func TestNamesRefused(t *testing.T) {
	props.NamesRefused(t, newSubject, oci.Cloud().Annotations, props.Service("lb", nil), props.Service("nlb", annotationPairs(prefix+"load-balancer-type", "nlb")))
}
