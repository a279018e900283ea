package wire

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Error is a refusal in the form that Google's JSON APIs give it.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Reason is the word in error.errors[].reason, such as "notFound".
	Reason string
	// Code is the word for the same in a failed operation, such as "RESOURCE_NOT_FOUND".
	Code    string
	Message string
	// Canonical is the word in error.status; only refusals of Google's front end,
	// before the service is reached, have one.
	Canonical string
	// Late means that the service detects the error only while it works on the operation, when
	// it is configured so.
	Late bool
}

func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Reason, e.Message) }

// Document is the body of the answer.
func (e *Error) Document() Object {
	body := Object{
		"code": float64(e.Status), "message": e.Message,
		"errors": []any{Object{"message": e.Message, "domain": "global", "reason": e.Reason}},
	}
	if e.Canonical != "" {
		body["status"] = e.Canonical
	}
	return Object{"error": body}
}

// AsError gives the refusal in err; anything else is a backend error.
func AsError(err error) *Error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e
	}
	return &Error{Status: http.StatusInternalServerError, Reason: "backendError", Code: "INTERNAL_ERROR", Message: err.Error()}
}

// Invalid refuses the value of a field, which is named with its whole path.
func Invalid(field string, value any, why string, args ...any) *Error {
	return &Error{
		Status: http.StatusBadRequest, Reason: "invalid", Code: "INVALID_FIELD_VALUE",
		Message: fmt.Sprintf("Invalid value for field '%s': '%v'. %s", field, value, fmt.Sprintf(why, args...)),
	}
}

// Usage refuses a request whose fields do not go together.
func Usage(why string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Reason: "invalid", Code: "INVALID_USAGE", Message: fmt.Sprintf(why, args...)}
}

// Required misses a field.
func Required(field string) *Error {
	return &Error{
		Status: http.StatusBadRequest, Reason: "required", Code: "REQUIRED_FIELD",
		Message: fmt.Sprintf("Required field '%s' not specified", field),
	}
}

// Malformed is the front end's answer to a body that is not of the API.
func Malformed(why string, args ...any) *Error {
	return &Error{
		Status: http.StatusBadRequest, Reason: "badRequest", Code: "INVALID_ARGUMENT", Canonical: "INVALID_ARGUMENT",
		Message: "Invalid JSON payload received. " + fmt.Sprintf(why, args...),
	}
}

// NotFound misses a resource, which is given as a path from "projects/" on.
func NotFound(path string) *Error {
	return &Error{
		Status: http.StatusNotFound, Reason: "notFound", Code: "RESOURCE_NOT_FOUND",
		Message: fmt.Sprintf("The resource '%s' was not found", path),
	}
}

// Exists refuses a name that is taken.
func Exists(path string) *Error {
	return &Error{
		Status: http.StatusConflict, Reason: "alreadyExists", Code: "RESOURCE_ALREADY_EXISTS",
		Message: fmt.Sprintf("The resource '%s' already exists", path),
	}
}

// InUse refuses to delete what another resource refers to. Both official
// controllers look for "being used by" in the text.
// Source: kubernetes/ingress-gce:pkg/utils/utils.go (IsInUsedByError).
func InUse(noun, path, user string) *Error {
	return &Error{
		Status: http.StatusBadRequest, Reason: "resourceInUseByAnotherResource", Code: "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE", Late: true,
		Message: fmt.Sprintf("The %s resource '%s' is already being used by '%s'", noun, path, user),
	}
}

// NotReady refuses to touch what another operation still works on.
func NotReady(path string) *Error {
	return &Error{
		Status: http.StatusBadRequest, Reason: "resourceNotReady", Code: "RESOURCE_NOT_READY",
		Message: fmt.Sprintf("The resource '%s' is not ready", path),
	}
}

// QuotaExceeded refuses one more resource than the project may have.
func QuotaExceeded(metric string, limit float64, place string) *Error {
	return &Error{
		Status: http.StatusForbidden, Reason: "quotaExceeded", Code: "QUOTA_EXCEEDED", Late: true,
		Message: fmt.Sprintf("Quota '%s' exceeded.  Limit: %.1f %s.", metric, limit, place),
	}
}

// AddressInUse refuses an internal address that something else has.
func AddressInUse(ip, user string) *Error {
	return &Error{
		Status: http.StatusConflict, Reason: "alreadyExists", Code: "IP_IN_USE_BY_ANOTHER_RESOURCE", Late: true,
		Message: fmt.Sprintf("IP_IN_USE_BY_ANOTHER_RESOURCE: IP '%s' is already being used by another resource: '%s'.", ip, user),
	}
}

// Condition refuses a change on top of a state that is not the current one.
func Condition(why string, args ...any) *Error {
	return &Error{
		Status: http.StatusPreconditionFailed, Reason: "conditionNotMet", Code: "CONDITION_NOT_MET", Message: fmt.Sprintf(why, args...),
	}
}

// Noun is how messages call a collection: "targetPools" is a "target_pool".
func Noun(collection string) string {
	name := strings.TrimSuffix(collection, "s")
	if rest, ok := strings.CutSuffix(collection, "sses"); ok {
		name = rest + "ss"
	}
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
