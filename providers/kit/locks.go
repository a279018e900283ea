package kit

import (
	"context"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers/fault"
)

// Locks permit one change at a time for each name.
type Locks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the holder is done
}

// NewLocks returns free locks.
func NewLocks() *Locks { return &Locks{held: map[string]chan struct{}{}} }

// Take waits for the lock of a name and returns the function that releases it, or the
// context's error.
func (l *Locks) Take(ctx context.Context, name string) (func(), error) {
	for {
		l.mu.Lock()
		busy, held := l.held[name]
		if !held {
			mine := make(chan struct{})
			l.held[name] = mine
			l.mu.Unlock()
			return func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				delete(l.held, name)
				close(mine)
			}, nil
		}
		l.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// busyTries is the number of retries of a change to a resource that others were
// changing.
const busyTries = 5

// busyPause is the minimum time between the first two attempts to change a busy resource;
// it doubles. A cloud can refuse changes for a while after its lists show no pending change.
const busyPause = 250 * time.Millisecond

// Change applies a change to a resource that accepts one at a time, and returns the
// result of settled, which waits for its end; this process does not change the resource
// until then. quiet judges a refusal: nil if others were changing the resource and have
// completed, after which the change is repeated; else the error to return.
func (l *Locks) Change(ctx context.Context, name string, send func() error, quiet func(refusal error) error, settled func() error) error {
	unlock, err := l.Take(ctx, name)
	if err != nil {
		return &fault.Fault{Meaning: fault.Unavailable, Text: "stopped before it was sent", Err: err}
	}
	defer unlock()
	for try := range busyTries {
		if err = send(); err == nil {
			return settled()
		}
		pause := startPause(busyPause << try)
		if refusal := quiet(err); refusal != nil {
			return refusal
		}
		if try+1 == busyTries {
			break
		}
		if !pause(ctx) {
			break
		}
	}
	return err
}
