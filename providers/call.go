package providers

import (
	"context"

	"github.com/berth-lb/berth/providers/fault"
)

// Call names one request to a cloud as it goes over the wire: what an SDK
// repeats is another one.
type Call struct {
	API       string // the part of the cloud, such as "ec2" or "compute"
	Operation string // the cloud's own name, such as "DescribeSubnets"
}

// NoAnswer is the Code of a call that went out, or was about to, and was not
// answered.
const NoAnswer = "NoAnswer"

// Answer is what came back of a Call.
type Answer struct {
	Code    string        // the cloud's own code; empty if it was not refused
	Meaning fault.Meaning // of the code
}

// OK tells whether the call was not refused.
func (a Answer) OK() bool { return a.Code == "" }

// Observe is told when a call is about to go out; what it returns is told of the
// answer. It must be quick, and is called from many goroutines. Nil is nobody.
type Observe func(ctx context.Context, c Call) func(Answer)

// Begin tells the observer, if there is one.
func (o Observe) Begin(ctx context.Context, c Call) func(Answer) {
	if o == nil {
		return func(Answer) {}
	}
	return o(ctx, c)
}

// Observers tells all of several observers, in order.
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
