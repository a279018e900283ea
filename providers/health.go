package providers

import (
	"context"
	"net/netip"

	"github.com/berth-lb/berth/stack"
)

// MemberHealth is the health of one member of a load balancer, as the cloud reports it.
type MemberHealth struct {
	Of     stack.Key `json:"of"`             // the observed resource that has the member, such as a target group
	Part   string    `json:"part,omitempty"` // a part of that resource, such as a rule; empty: all of it
	Member string    `json:"member"`         // the cloud's name
	// Addr is the member's address, if the cloud identifies members by address.
	Addr    netip.Addr `json:"-"`
	Healthy bool       `json:"healthy"`
	State   string     `json:"state"`         // the cloud's own term
	Why     string     `json:"why,omitempty"` // the cloud's explanation; empty: none
}

// Examiner is a Session that can report the health of members. The controller reads it only
// for pods that wait for it: on a Service it would be outdated at once.
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
