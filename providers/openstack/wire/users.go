package wire

import (
	"context"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers/kit"
)

// usersAge is how long the users of a load balancer are cached: long enough to cover the
// time between the deletions of its floating IP and of the load balancer itself.
const usersAge = 2 * time.Second

// users caches the users of load balancers, with one request for all waiting callers.
// Changes by this process drop the entry. A change by another cluster in the meantime would
// escape any request.
type users struct {
	ask *kit.Settling
	now func() time.Time

	mu    sync.Mutex
	known map[string]seen // by load balancer
}

// seen is an answer with its age.
type seen struct {
	marks string
	at    time.Time
}

// describe returns the name and the tags of a load balancer, one on each line.
func (u *users) describe(ctx context.Context, balancer string) (string, error) {
	u.mu.Lock()
	last, known := u.known[balancer]
	delete(u.known, balancer) // it is for one more question
	u.mu.Unlock()
	if known && u.now().Sub(last.at) < usersAge {
		return last.marks, nil
	}
	asked := u.now()
	marks, err := u.ask.Wait(ctx, balancer)
	if err != nil {
		return "", err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.known[balancer] = seen{marks: marks, at: asked}
	return marks, nil
}

// forget drops the cached users of a load balancer before they change.
func (u *users) forget(balancer string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.known, balancer)
}
