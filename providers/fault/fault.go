package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Meaning is what a fault asks the loop to do.
type Meaning int

const (
	// Internal is a fault of ours, or one that nobody has mapped yet: back off and try again.
	Internal Meaning = iota
	// NotFound says that the object of the call does not exist.
	NotFound
	// Conflict says that the object was changed by somebody else in between: read and plan again.
	Conflict
	// Exists says that a create found its name taken.
	Exists
	// InUse says that something still refers to the object: wait, then try again.
	InUse
	// Throttled says that the cloud wants fewer calls: pause the bucket, not the Service.
	Throttled
	// Quota says that a limit of the account is reached.
	Quota
	// Denied says that our credentials do not allow the call.
	Denied
	// Invalid says that the user asked for something the cloud refuses: wait for a change of the Service.
	Invalid
	// Pending says that the cloud is still busy with an earlier change: wait.
	Pending
	// Ambiguous says that nobody knows whether the call took effect: read before anything else.
	Ambiguous
	// Unavailable says that the cloud did not answer: back off and try again.
	Unavailable
	// Taken says that another Service has the port or address that only one can have: wait until it is free.
	Taken
)

// String names the meaning as it appears in conditions and metrics.
func (m Meaning) String() string {
	names := [...]string{"Internal", "NotFound", "Conflict", "Exists", "InUse", "Throttled", "Quota", "Denied", "Invalid", "Pending", "Ambiguous", "Unavailable", "Taken"}
	if m < 0 || int(m) >= len(names) {
		return fmt.Sprintf("Meaning(%d)", int(m))
	}
	return names[m]
}

// IsWait tells whether the fault is a matter of time and no failure.
func (m Meaning) IsWait() bool { return m == InUse || m == Pending }

// Fault is an error with a meaning.
type Fault struct {
	Meaning Meaning
	After   time.Duration // how long to wait before the next try; zero: the caller's own back-off
	Code    string        // the cloud's own code, for logs and metrics
	Text    string        // what happened, in words for the user
	Cause   Cause         // what has to change, where the meaning does not say it
	Helps   string        // what helps against it, where that is not what helps against all of its meaning
	Err     error         // the cause, if any
	// OfSome says that a call with many members may have been refused for what only
	// some of them name, whatever the meaning.
	OfSome bool
	// Learned says that the cloud does not have something that the Service names, and that
	// the session remembers it: the next draft tells which key is mistaken.
	Learned bool
}

// Error is the text, with the cloud's code where there is one, and what helps.
func (f *Fault) Error() string {
	text := f.Text
	if text == "" && f.Err != nil {
		text = f.Err.Error()
	}
	if f.Helps != "" {
		text += "; " + f.Helps
	}
	if f.Code != "" {
		return f.Code + ": " + text
	}
	if text == "" {
		return f.Meaning.String()
	}
	return text
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// New makes a fault of the meaning with a formatted text.
func New(m Meaning, format string, args ...any) *Fault {
	return &Fault{Meaning: m, Text: fmt.Sprintf(format, args...)}
}

// With returns the fault with another meaning, and with more to tell.
func (f *Fault) With(m Meaning, more string) *Fault {
	with := *f
	if with.Meaning = m; more != "" {
		with.Text = strings.TrimSuffix(f.Text, ".") + more
	}
	return &with
}

// Of returns the meaning of an error: that of the first fault in its chain,
// else Internal. A nil error has no meaning and must not be asked.
func Of(err error) Meaning {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Meaning
	}
	return Internal
}

// Is tells whether err is a fault of the meaning.
func Is(err error, m Meaning) bool {
	if err == nil {
		return false
	}
	return Of(err) == m
}

// After returns the wait that the first fault in the chain asks for.
func After(err error) time.Duration {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.After
	}
	return 0
}

// Helped tells whether the first fault in the chain says itself what helps against it.
func Helped(err error) bool {
	f, ok := errors.AsType[*Fault](err)
	return ok && f.Helps != ""
}
