package oci

import (
	"fmt"
	"net/http"
)

// refusal is an answer that says no. Source: API reference, "API Errors".
type refusal struct {
	status int
	code   string
	text   string
}

// Error implements error.
func (r *refusal) Error() string { return r.text }

func refuse(status int, code, format string, args ...any) *refusal {
	return &refusal{status: status, code: code, text: fmt.Sprintf(format, args...)}
}

// invalid is a value that the API does not take.
func invalid(format string, args ...any) *refusal {
	return refuse(http.StatusBadRequest, "InvalidParameter", format, args...)
}

// missing is a value that the API must have.
func missing(name string) *refusal {
	return refuse(http.StatusBadRequest, "MissingParameter", "%s is missing", name)
}

// lost is what is not there, or not allowed to the caller.
func lost(what, id string) *refusal {
	return refuse(http.StatusNotFound, "NotAuthorizedOrNotFound", "Authorization failed or requested resource not found: %s %s", what, id)
}

// related is a thing that the body names and that is not there.
func related(what, id string) *refusal {
	return refuse(http.StatusBadRequest, "RelatedResourceNotAuthorizedOrNotFound", "Authorization failed or related resource not found: %s %s", what, id)
}

// taken is a thing that is there already.
func taken(format string, args ...any) *refusal {
	return refuse(http.StatusConflict, "NotAuthorizedOrResourceAlreadyExists", format, args...)
}

// tooMany is a limit of the tenancy.
func tooMany(what string, limit int) *refusal {
	return refuse(http.StatusBadRequest, "LimitExceeded", "The limit of %d %s is exceeded", limit, what)
}
