package openstack_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestRenumbered verifies that no old port is removed before the new ports exist.
func TestRenumbered(t *testing.T) {
	props.Renumbered(t, newSubject(""), props.Service("plain", nil))
	props.Renumbered(t, newSubject(managed), props.Service("groups", prefixedKeys("enable-health-monitor", "true")))
}
