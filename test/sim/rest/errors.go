package rest

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-lb/berth/test/sim"
)

// Error is an answer that says no. Each API has a form of its own for it.
type Error struct {
	Status int
	Code   string // empty where the API tells none
	Text   string
	Page   string        // what is answered instead of JSON; empty: nothing is
	Wait   time.Duration // how long it will be before the rate lets the call through
}

// Error implements error.
func (r *Error) Error() string { return r.Text }

// Refuse makes a refusal.
func Refuse(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Text: fmt.Sprintf(format, args...)}
}

// Words are what a cloud says whatever the call is.
type Words struct {
	Unknown   Error // to a path that it does not know
	Malformed Error // for a body that is no JSON; the cause follows the text
	TooFast   Error // beyond a rate
	Broken    Error // where a fault leaves something open, and to what is no refusal
	// Secret are the keys of bodies that the journal leaves out.
	Secret map[string]bool
	// Header names an answer: ID is its value, given the one of the request.
	Header string
	ID     func(asked string, seq int) string
}

// refusal is an error as an answer.
func (w Words) refusal(err error) *Error {
	var r *Error
	if errors.As(err, &r) {
		return r
	}
	return Refuse(w.Broken.Status, w.Broken.Code, "%v", err)
}

// injected is what a fault answers.
func (w Words) injected(f sim.Fault) *Error {
	r := &Error{Status: f.Status, Code: f.Code, Text: f.Message}
	sim.Default(&r.Status, w.Broken.Status)
	sim.Default(&r.Code, w.Broken.Code)
	sim.Default(&r.Text, w.Broken.Text)
	return r
}
