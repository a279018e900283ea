package ibm_test

import (
	"testing"

	"github.com/berth-lb/berth/test/permissions"
	"github.com/berth-lb/berth/test/props"
)

// judged is an account that admits calls by roles.
type judged struct{ subject }

// SetRole implements props.Roled.
func (j judged) SetRole(t testing.TB, role []byte) {
	t.Helper()
	if err := j.Sim.Cloud.SetPolicies(role); err != nil {
		t.Fatal(err)
	}
}

// TestPermissions holds docs/permissions/ibm.txt against the calls of load balancers of all kinds
// that are changed in everything that can change.
func TestPermissions(t *testing.T) {
	fresh := func(t testing.TB) props.Subject { return judged{onIBM().Subject(t, withNodes(6))} }
	walk := append(allCases(),
		props.Service("grouped", withKeys("vpc-security-group", "web")), props.Service("other group", withKeys("vpc-security-group", "internal")),
		props.Service("outbound", withKeys("vpc-allow-outbound-traffic", "80,443")), props.Service("less outbound", withKeys("vpc-allow-outbound-traffic", "443")),
		props.Service("subnets", withKeys("vpc-subnets", "berthdemo-subnet-10")),
	)
	permissions.Check(t, permissions.IBM(), permissions.Walk{Fresh: fresh, Cases: walk}, permissions.Walk{Fresh: fresh, Cases: networkCases()})
}
