package wire

import (
	"context"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers/kit"
)

// usersAge is how long it is believed who uses a load balancer: from the deletion of its
// floating IP to its own.
const usersAge = 2 * time.Second

// users is who uses load balancers, asked for all who want to know at once. What others
// of this process change is forgotten; what other clusters change meanwhile, no question
// could have shown in time.
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

// forget drops what is known of a load balancer whose users change.
func (u *users) forget(balancer string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.known, balancer)
}
