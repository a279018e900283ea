package azure_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestChecked: berth check reports what the controller refuses.
func TestChecked(t *testing.T) {
	props.Checked(t, newSubject(simazure.SeedOptions{Nodes: 3}), map[string]string{
		`internal-subnet: is no subnet`:                              "the cloud has it",
		`(ipv4|ipv6|loadBalancerIP): is the address of no public IP`: "the cloud has it",
		`resource-group: is not found`:                               "the cloud has it",
		`pip-name(-ipv6)?: is no public IP`:                          "the cloud has it",
		`pls-create: needs pools of interfaces`:                      "the configuration decides on pools",
		`spec.ports: has no node port`:                               "the API server assigns node ports",
	})
}
