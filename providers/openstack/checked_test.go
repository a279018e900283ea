package openstack_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestChecked: berth check reports what the controller refuses.
func TestChecked(t *testing.T) {
	props.Checked(t, newSubject(""), map[string]string{
		`^loadbalancer.openstack.org/class: is no section`: "the configuration has the classes",
		`default-tls-container-ref: is not found`:          "the key manager has it",
		`floating-subnet-id: is no subnet`:                 "the cloud has it",
		`load-balancer-id: is no load balancer`:            "the cloud has it",
		`member-subnet-id: is not found`:                   "the cloud has it",
	})
}
