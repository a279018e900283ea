package rest

import (
	"net/http"
	"strings"
)

// Route is one call of an API; V is what a cloud makes of a call.
type Route[V any] struct {
	API, Name string // as the journal has them
	Method    string
	Path      string // parts in braces are parameters
	Write     bool
	Open      bool // needs no authentication
	Status    int  // of success
	Run       func(V) (any, error)
}

// Reads is a call that changes nothing.
func Reads[V any](api, name, path string, run func(V) (any, error)) Route[V] {
	return Route[V]{API: api, Name: name, Method: http.MethodGet, Path: path, Status: http.StatusOK, Run: run}
}

// Writes is a call that changes something.
func Writes[V any](api, name, method, path string, status int, run func(V) (any, error)) Route[V] {
	return Route[V]{API: api, Name: name, Method: method, Path: path, Status: status, Write: true, Run: run}
}

// Operations are the calls of a table, as the journal names them, with the API before
// them.
func Operations[V any](all []Route[V]) []string {
	var out []string
	for _, r := range all {
		out = append(out, r.API+"."+r.Name)
	}
	return out
}

// ready is a route whose path is taken apart.
type ready[V any] struct {
	Route[V]
	parts []string
}

func splitPath(path string) []string { return strings.Split(strings.Trim(path, "/"), "/") }

// findRoute returns the route of a path, with the values of its parameters.
func findRoute[V any](all []ready[V], method, path string) (Route[V], map[string]string, bool) {
	parts := splitPath(path)
	for _, r := range all {
		if r.Method != method {
			continue
		}
		if params, ok := Match(r.parts, parts); ok {
			return r.Route, params, true
		}
	}
	return Route[V]{}, nil, false
}
