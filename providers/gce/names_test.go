package gce_test

import (
	"testing"

	"github.com/berth-lb/berth/providers/gce"
	"github.com/berth-lb/berth/test/props"
)

// TestNamesRefused verifies that a policy that lets nothing be named holds while a process runs.
func TestNamesRefused(t *testing.T) {
	set := gce.Cloud().Annotations
	props.NamesRefused(t, fresh(""), set, service("netlb", "l4-regional-external", nil), service("ilb-neg", "l4-regional-internal", nil))
}
