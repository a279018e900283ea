package openstack

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

// route is one call of an API; an open one needs no token.
type route = rest.Route[*visit]

// newRoutes returns the table of all calls of Berth and the official controller.
func newRoutes() []route {
	return slices.Concat(identityRoutes(), balancerRoutes(), childRoutes(), networkRoutes(), otherRoutes())
}

// Operations are all calls that the simulator knows, as the journal names them, with
// the API before them.
func Operations() []string { return rest.Operations(newRoutes()) }
