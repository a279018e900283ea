package kit

import (
	"context"
	"sync"
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
