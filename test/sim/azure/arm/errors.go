package arm

import (
	"fmt"
	"net/http"
)

// Error is a refusal as ARM answers it.
type Error struct {
	Status        int
	Code, Message string
	// RetryAfter is in seconds; 0 leaves the header out.
	RetryAfter int
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Body is the JSON of the refusal.
func (e *Error) Body() Doc {
	return Doc{"error": Doc{"code": e.Code, "message": e.Message, "details": []any{}}}
}

// Failf makes a refusal with a status of its own.
func Failf(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Badf refuses a request that can never succeed as it is.
func Badf(code, format string, args ...any) *Error {
	return Failf(http.StatusBadRequest, code, format, args...)
}

// Conflictf refuses a request that does not fit the present state.
func Conflictf(code, format string, args ...any) *Error {
	return Failf(http.StatusConflict, code, format, args...)
}

// Each checks the documents of a list up to the first refusal.
func Each(list []Doc, check func(Doc) *Error) *Error {
	for _, d := range list {
		if err := check(d); err != nil {
			return err
		}
	}
	return nil
}

// First takes steps in order up to the first refusal.
func First(steps ...func() *Error) *Error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func notFound(id ID) *Error {
	kind := id.Type()
	return Failf(http.StatusNotFound, "ResourceNotFound",
		"The Resource '%s/%s' under resource group '%s' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix", kind, id.Name(), id.Group)
}

func parentNotFound(id ID) *Error {
	return Failf(http.StatusNotFound, "ParentResourceNotFound",
		"Can not perform requested operation on nested resource. Parent resource '%s' not found.", id.Parent().Name())
}

func groupNotFound(id ID) *Error {
	return Failf(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", id.Group)
}

func childNotFound(id ID) *Error {
	return Failf(http.StatusNotFound, "NotFound", "Resource %s not found.", id)
}
