package openstack_test

import (
	"testing"

	"github.com/berth-lb/berth/providers/openstack"
	"github.com/berth-lb/berth/test/props"
)

// TestNamesRefused verifies that a policy that lets nothing be named holds while a process runs,
// which writes the id of the Service's own load balancer into an annotation.
func TestNamesRefused(t *testing.T) {
	props.NamesRefused(t, newSubject(managed), openstack.Cloud().Annotations, props.Service("plain", nil))
}
