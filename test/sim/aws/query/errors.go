package query

import "fmt"

// Error is an error answer of the cloud.
type Error struct {
	// Status is the HTTP status, 400 when zero.
	Status  int
	Code    string
	Message string
}

// Error gives the code and the message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Errorf makes an Error with status 400.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Status: 400, Code: code, Message: fmt.Sprintf(format, args...)}
}
