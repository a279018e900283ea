package wire

import (
	"testing"

	"github.com/berth-lb/berth/test/permissions"
)

// TestTrials: berth doctor has trials of every permission of the role, or declares that it has none.
func TestTrials(t *testing.T) { permissions.IBM().Declares(t, "../../..", new(Session).trials()) }
