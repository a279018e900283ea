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

// Progress says how far a call came.
type Progress int

const (
	// Reading is a call that changes nothing.
	Reading Progress = iota
	// NotSent is a writing call of which nothing left this machine.
	NotSent
	// Sent is a writing call that went out.
	Sent
)

// Write makes a writing call and returns how far it came, with the call's own error.
// It sees that through the HTTP client that the call uses with the context it gets.
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

// Refusal is what a cloud's answer to a refused call says.
type Refusal struct {
	Code   string        // the cloud's own code
	Status int           // of HTTP; 0: there was no answer
	Text   string        // in the cloud's words
	After  time.Duration // how long to wait, where the answer says it
}

// Errors gives the errors of one SDK their meanings. Only codes, status and how far
// the call came decide, never the text.
type Errors struct {
	// Read takes the cloud's answer out of an error of the SDK; false: there is none
	// in it.
	Read func(error) (Refusal, bool)
	// Meaning is the cloud's table of codes; false: the code is not in it.
	Meaning func(Refusal) (fault.Meaning, bool)
	// Cause is the cloud's table of codes that say what has to change before the call can
	// succeed; Unspecified: the status decides. Nil: the status always decides.
	Cause func(Refusal) fault.Cause
	// OfSome tells whether an answer may be about what only some members of the call name,
	// where its meaning does not say so; nil: no answer is.
	OfSome func(Refusal) bool
	// Conflict is what HTTP 409 means with a code that nobody has mapped.
	Conflict fault.Meaning
	// Busy is when to ask again after a Pending answer that names no time.
	Busy time.Duration
}

// Fault returns the error of a call as a fault; nil stays nil, and what is a fault
// already stays as it is. A call that got no answer, or failed in the server, is
// Ambiguous once it was sent and Unavailable before.
func (e Errors) Fault(err error, p Progress) error {
	if err == nil {
		return nil
	}
	var known *fault.Fault
	if errors.As(err, &known) {
		return err
	}
	f := &fault.Fault{Meaning: p.unanswered(), Text: err.Error(), Err: err}
	said, answered := e.Read(err)
	if !answered {
		return f
	}
	return e.refusal(f, said)
}

// Refused returns the fault of an answer that did not come as an error.
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
		// Of a server that failed while it worked on the call nobody knows how far it came.
		f.Meaning = m
	}
	f.Cause = e.cause(said, f.Meaning)
	if f.Meaning == fault.Pending && f.After == 0 {
		f.After = e.Busy
	}
	return f
}

// meaning is that of the code, else of the status; false: of neither.
func (e Errors) meaning(said Refusal) (fault.Meaning, bool) {
	if m, mapped := e.Meaning(said); mapped {
		return m, true
	}
	return fault.OfStatus(said.Status, e.Conflict)
}

// cause returns that of the code, else of the status.
func (e Errors) cause(said Refusal, m fault.Meaning) fault.Cause {
	if e.Cause != nil {
		if cause := e.Cause(said); cause != fault.Unspecified {
			return cause
		}
	}
	return fault.CauseOfStatus(said.Status, m)
}

// Answer returns what a refused call is counted as; the status stands for a code that
// there is not.
func (e Errors) Answer(said Refusal) providers.Answer {
	m, _ := e.meaning(said)
	return providers.Answer{Code: cmp.Or(said.Code, strconv.Itoa(said.Status)), Meaning: m}
}

// unanswered is the meaning of a call that got no answer, or none that says whether
// it took effect.
func (p Progress) unanswered() fault.Meaning {
	if p == Sent {
		return fault.Ambiguous
	}
	return fault.Unavailable
}
