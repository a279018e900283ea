package openstack

import (
	"fmt"
	"net/http"
)

// refusal is an answer that says no. Each API has a form of its own for it.
type refusal struct {
	status int
	kind   string // the name of the exception, where the API tells it
	text   string
	page   string // what is answered instead of JSON; empty: nothing is
}

// Error implements error.
func (r *refusal) Error() string { return r.text }

func refuse(status int, kind, format string, args ...any) *refusal {
	return &refusal{status: status, kind: kind, text: fmt.Sprintf(format, args...)}
}

// invalid is Octavia's 400.
func invalid(format string, args ...any) *refusal {
	return refuse(http.StatusBadRequest, "ValidationException", "Validation failure: "+format, args...)
}

// unfit is Octavia's 400 to a value that is not of the type of its key.
func unfit(key, value, why string) *refusal {
	return refuse(http.StatusBadRequest, "ClientSideError", "Invalid input for field/attribute %s. Value: '%s'. Value %s", key, value, why)
}

// lost is Octavia's 404.
func lost(what, id string) *refusal {
	return refuse(http.StatusNotFound, "NotFound", "%s %s not found.", what, id)
}

// immutable is Octavia's 409 to a child of what is busy. Source: a real Octavia.
func immutable(what, id string) *refusal {
	return refuse(http.StatusConflict, "ImmutableObject", "%s %s is immutable and cannot be updated.", what, id)
}

// body is the refusal in the form of the API.
// Sources: a real Keystone, Neutron and Octavia; Barbican API reference.
func (r *refusal) body(api string) Object {
	switch api {
	case apiOctavia:
		code := "Client"
		if r.status >= http.StatusInternalServerError {
			code = "Server"
		}
		return Object{"faultcode": code, "faultstring": r.text, "debuginfo": nil}
	case apiNeutron:
		return Object{"NeutronError": Object{"type": r.kind, "message": r.text, "detail": ""}}
	case apiBarbican:
		return Object{"code": r.status, "title": http.StatusText(r.status), "description": r.text}
	}
	return Object{"error": Object{"code": r.status, "title": http.StatusText(r.status), "message": r.text}}
}
