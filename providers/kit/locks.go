package kit

import (
	"context"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers/fault"
)

// Locks lets one change at a time through for each name.
type Locks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the holder is done
}

// NewLocks returns locks that nothing holds.
func NewLocks() *Locks { return &Locks{held: map[string]chan struct{}{}} }

// Take waits for the lock of a name and returns what gives it back, or the context's
// error.
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

// busyTries is how often a change is made again that met a thing which others were
// changing.
const busyTries = 5

// busyPause is the least time between the first two tries of a change to a busy thing; it
// doubles. A cloud may refuse changes for a while after its lists show that nothing is under way.
const busyPause = 250 * time.Millisecond

// Change makes a change to a thing that takes one at a time, and returns what settled
// returns, which waits for its end; nobody of this process changes the thing until then.
// quiet judges a refusal: nil if others were changing the thing and have done so, after
// which the change is made anew; else what is returned.
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
