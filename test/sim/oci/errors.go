package oci

import (
	"net/http"

	"github.com/berth-lb/berth/test/sim/rest"
)

// invalid is a value that the API does not take.
func invalid(format string, args ...any) *rest.Error {
	return rest.Refuse(http.StatusBadRequest, "InvalidParameter", format, args...)
}

// missing is a value that the API must have.
func missing(name string) *rest.Error {
	return rest.Refuse(http.StatusBadRequest, "MissingParameter", "%s is missing", name)
}

// lost is the error for a resource that does not exist, or is not allowed to the caller.
func lost(what, id string) *rest.Error {
	return rest.Refuse(http.StatusNotFound, "NotAuthorizedOrNotFound", "Authorization failed or requested resource not found: %s %s", what, id)
}

// related is the error for a missing resource that the body names.
func related(what, id string) *rest.Error {
	return rest.Refuse(http.StatusBadRequest, "RelatedResourceNotAuthorizedOrNotFound", "Authorization failed or related resource not found: %s %s", what, id)
}

// taken is the error for a resource that already exists.
func taken(format string, args ...any) *rest.Error {
	return rest.Refuse(http.StatusConflict, "NotAuthorizedOrResourceAlreadyExists", format, args...)
}

// tooMany is a limit of the tenancy.
func tooMany(what string, limit int) *rest.Error {
	return rest.Refuse(http.StatusBadRequest, "LimitExceeded", "The limit of %d %s is exceeded", limit, what)
}
