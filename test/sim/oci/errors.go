package oci

import (
	"net/http"

	"github.com/berth-lb/berth/test/sim/rest"
)

// invalidParam returns the error for a value that the API does not accept.
func invalidParam(format string, args ...any) *rest.Error {
	return rest.Refuse(http.StatusBadRequest, "InvalidParameter", format, args...)
}

// missingParam returns the error for a required value that is missing.
func missingParam(name string) *rest.Error {
	return rest.Refuse(http.StatusBadRequest, "MissingParameter", "%s is missing", name)
}

// notFound returns the error for a resource that does not exist, or is not allowed to
// the caller.
func notFound(what, id string) *rest.Error {
	return rest.Refuse(http.StatusNotFound, "NotAuthorizedOrNotFound", "Authorization failed or requested resource not found: %s %s", what, id)
}

// relatedNotFound returns the error for a missing resource that the body names.
func relatedNotFound(what, id string) *rest.Error {
	return rest.Refuse(http.StatusBadRequest, "RelatedResourceNotAuthorizedOrNotFound", "Authorization failed or related resource not found: %s %s", what, id)
}

// alreadyExists returns the error for a resource that already exists.
func alreadyExists(format string, args ...any) *rest.Error {
	return rest.Refuse(http.StatusConflict, "NotAuthorizedOrResourceAlreadyExists", format, args...)
}

// tooMany is a limit of the tenancy.
func tooMany(what string, limit int) *rest.Error {
	return rest.Refuse(http.StatusBadRequest, "LimitExceeded", "The limit of %d %s is exceeded", limit, what)
}
