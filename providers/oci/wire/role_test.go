package wire

import (
	"testing"

	"github.com/berth-lb/berth/test/permissions"
)

// TestTrials: berth doctor makes list calls alone, each for a permission of the role.
func TestTrials(t *testing.T) {
	s := new(Session)
	s.kinds = s.products()
	permissions.OCI().Declares(t, "../../..", s.trials())
}
