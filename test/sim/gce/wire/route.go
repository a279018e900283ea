package wire

import (
	"net/http"
	"strings"
)

// Route is one method of an API: its name, its HTTP method and its path with
// parameters in braces, from behind the version on.
type Route struct {
	ID     string
	Method string
	Path   string
}

// Write reports whether the method changes state.
func (r Route) Write() bool {
	if r.Method == http.MethodGet {
		return false
	}
	for _, reading := range []string{".wait", ".getHealth", ".listInstances", ".listNetworkEndpoints"} {
		if strings.HasSuffix(r.ID, reading) {
			return false
		}
	}
	return true
}
