package aws_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestRefused is what a policy does to Services of every kind.
func TestRefused(t *testing.T) {
	credentials(t)
	props.Refused(t, fresh(""), cases())
}
