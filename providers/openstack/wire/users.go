package wire

import (
	"context"
	"time"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack/observed"
)

// usersAge is how long the users of a load balancer are cached: long enough to cover the
// time between the deletions of its floating IP and of the load balancer itself. A change by
// another cluster in the meantime would escape any request.
const usersAge = 2 * time.Second

// users reads the users of load balancers, with one request for all waiting callers.
type users struct {
	ask   *kit.Settling
	known *observed.Values[string, string] // name and tags by load balancer
}

// describe returns the name and the tags of a load balancer, one on each line. Each answer is
// returned once more.
func (u *users) describe(ctx context.Context, balancer string) (string, error) {
	if marks, ok := u.known.Get(balancer, usersAge); ok {
		u.known.Forget(balancer)
		return marks, nil
	}
	began := u.known.Begin(balancer)
	marks, err := u.ask.Wait(ctx, balancer)
	if err == nil {
		u.known.Listed(balancer, began, marks)
	}
	return marks, err
}
