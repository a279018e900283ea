package openstack_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestRenumbered: other ports take no old one away before they are there.
func TestRenumbered(t *testing.T) {
	props.Renumbered(t, fresh(""), props.Service("plain", nil))
	props.Renumbered(t, fresh(managed), props.Service("groups", keys("enable-health-monitor", "true")))
}
