package openstack

import (
	"net/http"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// route is one call of an API.
type route struct {
	api, name string
	method    string
	path      string // parts in braces are parameters
	write     bool
	open      bool // needs no token
	status    int  // of success
	run       func(*visit) (any, error)
}

func (r route) found() bool { return r.run != nil }

// find returns the route of a path, with the values of its parameters.
func find(all []route, method, path string) (route, map[string]string, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for _, r := range all {
		if r.method != method {
			continue
		}
		if params, ok := rest.Match(strings.Split(strings.Trim(r.path, "/"), "/"), parts); ok {
			return r, params, true
		}
	}
	return route{}, nil, false
}

// routes is the table of all calls: those that Berth or the official controller makes.
func routes() []route {
	var out []route
	for _, of := range [][]route{identityRoutes(), balancerRoutes(), childRoutes(), networkRoutes(), otherRoutes()} {
		out = append(out, of...)
	}
	return out
}

func reads(api, name, path string, run func(*visit) (any, error)) route {
	return route{api: api, name: name, method: http.MethodGet, path: path, status: http.StatusOK, run: run}
}

func writes(api, name, method, path string, status int, run func(*visit) (any, error)) route {
	return route{api: api, name: name, method: method, path: path, status: status, write: true, run: run}
}

// Operations are all calls that the simulator knows, as the journal names them, with
// the API before them.
func Operations() []string {
	var out []string
	for _, r := range routes() {
		out = append(out, r.api+"."+r.name)
	}
	return out
}
