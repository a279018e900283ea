package providers

import (
	"context"
	"net/netip"

	"github.com/berth-lb/berth/stack"
)

// MemberHealth is how one member behind a load balancer is, as the cloud judges it now.
type MemberHealth struct {
	Of     stack.Key `json:"of"`             // the found resource that has the member, such as a target group
	Part   string    `json:"part,omitempty"` // what inside of that resource is asked for, such as a rule; empty: all of it
	Member string    `json:"member"`         // as the cloud names it
	// Addr is the member's, where the cloud names members by their addresses.
	Addr    netip.Addr `json:"-"`
	Healthy bool       `json:"healthy"`
	State   string     `json:"state"`         // the cloud's own word
	Why     string     `json:"why,omitempty"` // what the cloud says of it; empty: nothing
}

// Examiner is a Session that can say how members are. The controller asks for pods that
// wait for it and for nothing else: what it would write on a Service would be old at once.
type Examiner interface {
	// Health returns all members of a stack that Read has found, by resource and
	// member. The error is a fault of reading.
	Health(ctx context.Context, have *stack.Stack) ([]MemberHealth, error)
}

// healthOf is the function of a session that is an Examiner.
func healthOf(session any) func(context.Context, *stack.Stack) ([]MemberHealth, error) {
	if examiner, ok := session.(Examiner); ok {
		return examiner.Health
	}
	return nil
}
