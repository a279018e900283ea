package aws_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestChecked: berth check reports what the controller refuses.
func TestChecked(t *testing.T) {
	setCredentials(t)
	props.Checked(t, newSubject(""), map[string]string{
		`which is no security group of AWS`: "the cloud has it",
		`which is no subnet of`:             "the cloud has it",
	})
}
