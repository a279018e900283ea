package kit

import (
	"slices"
	"sync"
)

// room limits the concurrent calls of a session. A nil room is unlimited.
type room struct {
	mu      sync.Mutex
	left    int
	waiting []*bucket // buckets whose next call waits for room
}

func newRoom(calls int) *room {
	if calls <= 0 {
		return nil
	}
	return &room{left: calls}
}

// enter takes a place for the next call of a bucket; without one the bucket is served
// again when another call leaves. The bucket's lock is held.
func (r *room) enter(b *bucket) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left > 0 {
		r.left--
		return true
	}
	if !slices.Contains(r.waiting, b) {
		r.waiting = append(r.waiting, b)
	}
	return false
}

// leave releases a place, to the bucket with the most urgent call first.
func (r *room) leave() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.left++
	waiting := r.waiting
	r.waiting = nil
	r.mu.Unlock()
	heads := make(map[*bucket]Turn, len(waiting))
	for _, b := range waiting {
		heads[b] = b.head()
	}
	slices.SortStableFunc(waiting, func(x, y *bucket) int {
		switch {
		case heads[x].Before(heads[y]):
			return -1
		case heads[y].Before(heads[x]):
			return 1
		}
		return 0
	})
	for _, b := range waiting {
		b.again()
	}
}

// head returns the turn of the next call; zero if none waits.
func (b *bucket) head() Turn {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return Turn{}
	}
	return b.queue[0].turn
}

// again distributes the available tokens.
func (b *bucket) again() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.serve()
}
