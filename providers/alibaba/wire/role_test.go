package wire

import (
	"testing"

	"github.com/berth-lb/berth/test/permissions"
)

// TestRoleIsWhole: the documented role has every action that a session can call.
func TestRoleIsWhole(t *testing.T) { permissions.Alibaba().Grants(t, "../../..", allActions()...) }

// TestTrials: berth doctor has a trial of every action of the role, or declares that it has none.
func TestTrials(t *testing.T) { permissions.Alibaba().Declares(t, "../../..", new(Session).trials()) }
