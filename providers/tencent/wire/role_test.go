package wire

import (
	"testing"

	"github.com/berth-lb/berth/test/permissions"
)

// TestRoleIsWhole: the documented role has every action that a session can call.
func TestRoleIsWhole(t *testing.T) {
	var actions []string
	for _, b := range rateBuckets() {
		actions = append(actions, apiCLB+"."+b.Name)
	}
	permissions.Tencent().Grants(t, "../../..", actions...)
}

// TestTrials: berth doctor has a trial of every action of the role, or declares that it has none.
func TestTrials(t *testing.T) { permissions.Tencent().Declares(t, "../../..", new(Session).trials()) }
