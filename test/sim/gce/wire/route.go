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

// Match gives the parameters if the path is one of the route's.
func (r Route) Match(path string) (map[string]string, bool) {
	want, got := strings.Split(r.Path, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return nil, false
	}
	params := map[string]string{}
	for i, w := range want {
		name, isParam := strings.CutPrefix(w, "{")
		switch {
		case isParam && got[i] != "":
			params[strings.TrimSuffix(name, "}")] = got[i]
		case w != got[i]:
			return nil, false
		}
	}
	return params, true
}
