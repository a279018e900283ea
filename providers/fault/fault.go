package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Meaning classifies a fault by the reaction of the loop.
type Meaning int

const (
	// Internal is a fault of ours, or one that is not mapped: back off and retry.
	Internal Meaning = iota
	// NotFound means that the object of the call does not exist.
	NotFound
	// Conflict means that another writer has changed the object: read and plan again.
	Conflict
	// Exists means that a create found its name in use.
	Exists
	// InUse means that another object still refers to the object: wait, then retry.
	InUse
	// Throttled means that the cloud requests fewer calls: pause the bucket, not the Service.
	Throttled
	// Quota means that a limit of the account is reached.
	Quota
	// Denied means that our credentials do not allow the call.
	Denied
	// Invalid means that the cloud refuses the user's request: wait for a change of the Service.
	Invalid
	// Pending means that the cloud is still applying an earlier change: wait.
	Pending
	// Ambiguous means that the effect of the call is unknown: read before anything else.
	Ambiguous
	// Unavailable means that the cloud did not answer: back off and retry.
	Unavailable
	// Taken means that another Service has the exclusive port or address: wait until it is free.
	Taken
)

// String returns the name of the meaning in conditions and metrics.
func (m Meaning) String() string {
	names := [...]string{"Internal", "NotFound", "Conflict", "Exists", "InUse", "Throttled", "Quota", "Denied", "Invalid", "Pending", "Ambiguous", "Unavailable", "Taken"}
	if m < 0 || int(m) >= len(names) {
		return fmt.Sprintf("Meaning(%d)", int(m))
	}
	return names[m]
}

// IsWait reports whether the fault ends with time and is no failure.
func (m Meaning) IsWait() bool { return m == InUse || m == Pending }

// Fault is an error with a meaning.
type Fault struct {
	Meaning Meaning
	After   time.Duration // pause before the next attempt; zero: the caller's own back-off
	Code    string        // the cloud's own code, for logs and metrics
	Text    string        // description for the user
	Cause   Cause         // what has to change, if the meaning does not determine it
	Helps   string        // remedy, if it differs from the remedy of the meaning
	Limit   Limit         // the quota, if a Quota fault is about a known one
	Err     error         // the cause, if any
	// OfSome means that a call with many members may have been refused because of some of
	// them, whatever the meaning.
	OfSome bool
	// Learned means that the cloud lacks a resource that the Service names, and that the
	// session remembers it: the next draft reports the key.
	Learned bool
}

// Error returns the text, with the cloud's code if there is one, and the remedy.
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

// New returns a fault of the meaning with a formatted text.
func New(m Meaning, format string, args ...any) *Fault {
	return &Fault{Meaning: m, Text: fmt.Sprintf(format, args...)}
}

// With returns the fault with another meaning and an additional text.
func (f *Fault) With(m Meaning, more string) *Fault {
	with := *f
	if with.Meaning = m; more != "" {
		with.Text = strings.TrimSuffix(f.Text, ".") + more
	}
	return &with
}

// Of returns the meaning of an error: that of the first fault in its chain,
// else Internal. A nil error has no meaning and must not be passed.
func Of(err error) Meaning {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Meaning
	}
	return Internal
}

// Is reports whether err is a fault of the meaning.
func Is(err error, m Meaning) bool {
	if err == nil {
		return false
	}
	return Of(err) == m
}

// After returns the wait that the first fault in the chain requests.
func After(err error) time.Duration {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.After
	}
	return 0
}

// Helped reports whether the first fault in the chain has a remedy of its own.
func Helped(err error) bool {
	f, ok := errors.AsType[*Fault](err)
	return ok && f.Helps != ""
}
