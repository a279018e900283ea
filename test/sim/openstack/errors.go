package openstack

import (
	"net/http"

	"github.com/berth-lb/berth/test/sim/rest"
)

// validationFailure returns Octavia's 400.
func validationFailure(format string, args ...any) *rest.Error {
	return rest.Refuse(http.StatusBadRequest, "ValidationException", "Validation failure: "+format, args...)
}

// invalidInput returns Octavia's 400 for a value that is not of the type of its key.
func invalidInput(key, value, why string) *rest.Error {
	return rest.Refuse(http.StatusBadRequest, "ClientSideError", "Invalid input for field/attribute %s. Value: '%s'. Value %s", key, value, why)
}

// notFound returns Octavia's 404.
func notFound(what, id string) *rest.Error {
	return rest.Refuse(http.StatusNotFound, "NotFound", "%s %s not found.", what, id)
}

// immutableObject returns Octavia's 409 for a child of a busy load balancer. Source: a
// real Octavia.
func immutableObject(what, id string) *rest.Error {
	return rest.Refuse(http.StatusConflict, "ImmutableObject", "%s %s is immutable and cannot be updated.", what, id)
}

// body is the refusal in the form of the API.
// Sources: a real Keystone, Neutron and Octavia; Barbican API reference.
func (v *visit) body(r *rest.Error) Object {
	switch v.Service {
	case apiOctavia:
		code := "Client"
		if r.Status >= http.StatusInternalServerError {
			code = "Server"
		}
		return Object{"faultcode": code, "faultstring": r.Text, "debuginfo": nil}
	case apiNeutron:
		return Object{"NeutronError": Object{"type": r.Code, "message": r.Text, "detail": ""}}
	case apiBarbican:
		return Object{"code": r.Status, "title": http.StatusText(r.Status), "description": r.Text}
	}
	return Object{"error": Object{"code": r.Status, "title": http.StatusText(r.Status), "message": r.Text}}
}
