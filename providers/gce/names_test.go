package gce_test

import (
	"testing"

	"github.com/berth-lb/berth/providers/gce"
	"github.com/berth-lb/berth/test/props"
)

// TestNamesRefused verifies that a policy that lets nothing be named holds while a process runs.
func TestNamesRefused(t *testing.T) {
	set := gce.Cloud().Annotations
	props.NamesRefused(t, newSubject(""), set, serviceCase("netlb", "l4-regional-external", nil), serviceCase("ilb-neg", "l4-regional-internal", nil))
}
