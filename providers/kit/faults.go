package kit

import (
	"cmp"
	"context"
	"errors"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
)

// Progress is the progress of a call when it ended.
type Progress int

const (
	// Reading is a call that changes nothing.
	Reading Progress = iota
	// NotSent is a write call of which nothing left this machine.
	NotSent
	// Sent is a write call that was sent.
	Sent
)

// Write makes a write call and returns its progress, with the call's own error.
// It observes that in the HTTP client that the call uses with the given context.
// A closed fence of the context refuses the call.
func Write(ctx context.Context, call func(context.Context) error) (Progress, error) {
	if err := providers.Fenced(ctx); err != nil {
		return NotSent, &fault.Fault{Meaning: fault.Unavailable, Text: "not sent: " + err.Error(), Err: err}
	}
	var left atomic.Bool
	err := call(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { left.Store(true) }}))
	if left.Load() {
		return Sent, err
	}
	return NotSent, err
}

// Refusal is the content of a cloud's answer to a refused call.
type Refusal struct {
	Code   string        // the cloud's own code
	Status int           // of HTTP; 0: there was no answer
	Text   string        // the cloud's message
	After  time.Duration // requested wait; zero: none
	Limit  fault.Limit   // the quota that the answer is about, if it has fields for that
}

// Errors maps the errors of one SDK to faults. Only codes, status and the progress of
// the call decide, never the text. The text is searched for the quota that is reported.
type Errors struct {
	// Read extracts the cloud's answer from an error of the SDK; false: there is none.
	Read func(error) (Refusal, bool)
	// Meaning is the cloud's table of codes; false: the code is not in it.
	Meaning func(Refusal) (fault.Meaning, bool)
	// Cause is the cloud's table of codes that determine what has to change before the call
	// can succeed; Unspecified: the status decides. Nil: the status always decides.
	Cause func(Refusal) fault.Cause
	// OfSome reports whether an answer can be about some members of the call only, if its
	// meaning does not imply it; nil: none.
	OfSome func(Refusal) bool
	// Limit returns the quota that a refusal with the meaning Quota is about, for the report
	// to the user; nil: none is known.
	Limit func(Refusal) fault.Limit
	// Conflict is the meaning of HTTP 409 without a mapped code.
	Conflict fault.Meaning
	// Busy is the pause after a Pending answer without a time.
	Busy time.Duration
}

// Fault returns the error of a call as a fault; nil and faults are unchanged. A call
// without an answer of the cloud, or with a server failure, is Ambiguous once it was sent and
// Unavailable before.
func (e Errors) Fault(err error, p Progress) error {
	if err == nil {
		return nil
	}
	var known *fault.Fault
	if errors.As(err, &known) {
		return err
	}
	f := &fault.Fault{Meaning: p.unanswered(), Text: err.Error(), Err: err}
	if page, is := errors.AsType[*fault.PageError](err); is {
		f.Text = page.Error()
		return f
	}
	said, answered := e.Read(err)
	if !answered {
		return f
	}
	return e.refusal(f, said)
}

// Refused returns the fault of an answer that the SDK does not return as an error.
func (e Errors) Refused(said Refusal, p Progress) error {
	return e.refusal(&fault.Fault{Meaning: p.unanswered()}, said)
}

func (e Errors) refusal(f *fault.Fault, said Refusal) error {
	f.Code, f.After = said.Code, said.After
	f.OfSome = e.OfSome != nil && e.OfSome(said)
	if said.Text != "" {
		f.Text = said.Text
	}
	m, mapped := e.meaning(said)
	if mapped && m != fault.Unavailable {
		// The progress of a call is unknown if the server failed during it.
		f.Meaning = m
	}
	f.Cause = e.cause(said, f.Meaning)
	f.Limit = e.limit(said, f.Meaning)
	if f.Meaning == fault.Pending && f.After == 0 {
		f.After = e.Busy
	}
	return f
}

// meaning returns the meaning of the code, else of the status; false: neither has one.
func (e Errors) meaning(said Refusal) (fault.Meaning, bool) {
	if m, mapped := e.Meaning(said); mapped {
		return m, true
	}
	return fault.OfStatus(said.Status, e.Conflict)
}

// cause returns the cause of the code, else of the status.
func (e Errors) cause(said Refusal, m fault.Meaning) fault.Cause {
	if e.Cause != nil {
		if cause := e.Cause(said); cause != fault.Unspecified {
			return cause
		}
	}
	return fault.CauseOfStatus(said.Status, m)
}

// limit returns the quota that a refusal is about.
func (e Errors) limit(said Refusal, m fault.Meaning) fault.Limit {
	if m != fault.Quota || e.Limit == nil || said.Limit != (fault.Limit{}) {
		return said.Limit
	}
	return e.Limit(said)
}

// Answer returns the answer that a refused call is counted as; the status replaces a
// missing code.
func (e Errors) Answer(said Refusal) providers.Answer {
	m, _ := e.meaning(said)
	return providers.Answer{Code: cmp.Or(said.Code, strconv.Itoa(said.Status)), Meaning: m}
}

// unanswered returns the meaning of a call without an answer, or with one that does not
// determine its effect.
func (p Progress) unanswered() fault.Meaning {
	if p == Sent {
		return fault.Ambiguous
	}
	return fault.Unavailable
}
