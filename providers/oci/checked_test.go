package oci_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestChecked: berth check reports what the controller refuses.
func TestChecked(t *testing.T) {
	props.Checked(t, newSubject, map[string]string{
		`compartment-id: is not found`:                         "the tenancy has it",
		`network-security-groups?: is not found`:               "the cloud has it",
		`(reserved-ips|loadBalancerIP): is no reserved public`: "the tenancy has it",
		`subnet1?: is not found`:                               "the cloud has it",
		`(secret|map): names (Secret|ConfigMap)`:               "the cluster has it",
	})
}
