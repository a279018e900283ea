package providers

import (
	"context"

	"github.com/berth-lb/berth/providers/fault"
)

// Call names one request to a cloud on the wire: a retry of an SDK is another one.
type Call struct {
	API       string // the part of the cloud, such as "ec2" or "compute"
	Operation string // the cloud's own name, such as "DescribeSubnets"
}

// NoAnswer is the Code of a call that was sent, or was about to be, and was not
// answered.
const NoAnswer = "NoAnswer"

// Answer is the result of a Call.
type Answer struct {
	Code    string        // the cloud's own code; empty if it was not refused
	Meaning fault.Meaning // of the code
}

// OK reports whether the call was not refused.
func (a Answer) OK() bool { return a.Code == "" }

// Observe is called before a call is sent; the function that it returns is called with
// the answer. It must be quick and safe for concurrent use. Nil observes nothing.
type Observe func(ctx context.Context, c Call) func(Answer)

// Begin calls the observer, if there is one.
func (o Observe) Begin(ctx context.Context, c Call) func(Answer) {
	if o == nil {
		return func(Answer) {}
	}
	return o(ctx, c)
}

// Observers returns an observer that calls all of several ones, in order.
func Observers(all ...Observe) Observe {
	return func(ctx context.Context, c Call) func(Answer) {
		ends := make([]func(Answer), 0, len(all))
		for _, o := range all {
			ends = append(ends, o.Begin(ctx, c))
		}
		return func(a Answer) {
			for _, end := range ends {
				end(a)
			}
		}
	}
}
