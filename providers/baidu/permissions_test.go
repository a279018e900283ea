package baidu_test

import (
	"testing"

	"github.com/berth-lb/berth/test/permissions"
	"github.com/berth-lb/berth/test/props"
	simbaidu "github.com/berth-lb/berth/test/sim/baidu"
)

// SetRole judges by system policies.
func (s podSubject) SetRole(t testing.TB, role []byte) {
	t.Helper()
	props.Judge(t, role, simbaidu.ParsePolicy, s.Sim.Cloud.SetPolicy)
}

// TestPermissions holds docs/permissions/baidu.txt against what is called when load balancers are changed in
// everything that can change.
func TestPermissions(t *testing.T) {
	permissions.Check(t, permissions.Baidu(), permissions.Walk{Fresh: freshPods, Cases: append(allCases(), props.Service("pods", withKey(pods, "true")))})
}
