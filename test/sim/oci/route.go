package oci

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

// route is one call of an API. Names are those of the operations in the API reference;
// an open one needs no signature of a user.
type route = rest.Route[*visit]

// newRoutes returns the table of all calls of Berth and the official controller.
func newRoutes() []route {
	return slices.Concat(balancerRoutes(), workRoutes(), coreRoutes(), groupRoutes(), identityRoutes(), limitRoutes())
}

// writeRoute returns a call that a retry token can repeat.
func writeRoute(api, name, method, path string, status int, run func(*visit) (any, error)) route {
	return rest.Writes(api, name, method, path, status, runOnce(status, run))
}

// Operations are all calls that the simulator knows, as the journal names them, with
// the API before them.
func Operations() []string { return rest.Operations(newRoutes()) }
