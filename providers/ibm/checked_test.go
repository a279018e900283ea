package ibm_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestChecked: berth check reports what the controller refuses.
func TestChecked(t *testing.T) {
	props.Checked(t, freshSubject(), map[string]string{
		`node-selector: selects none of the nodes`: "the cluster has the nodes",
		`security-group: is not the id or name`:    "the cloud has it",
		`vpc-subnets: is not the id, name`:         "the cloud has it",
	})
}
