package openstack_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestRenumbered verifies that no old port is removed before the new ports exist.
func TestRenumbered(t *testing.T) {
	props.Renumbered(t, fresh(""), props.Service("plain", nil))
	props.Renumbered(t, fresh(managed), props.Service("groups", keys("enable-health-monitor", "true")))
}
