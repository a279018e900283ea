package openstack_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestUninterrupted: clients of a Service with other ports are served whatever OpenStack refuses.
func TestUninterrupted(t *testing.T) {
	plain, groups := props.Service("plain", nil), props.Service("groups", prefixedKeys("enable-health-monitor", "true"))
	props.Uninterrupted(t, newSubject(""), plain, props.Renumbered(plain))
	props.Uninterrupted(t, newSubject(managed), groups, props.Renumbered(groups))
}
