package wire

import (
	"testing"

	"github.com/berth-lb/berth/test/permissions"
)

// TestRoleIsWhole: the documented role has every action that a session can call.
func TestRoleIsWhole(t *testing.T) { permissions.Alibaba().Grants(t, "../../..", allActions()...) }
