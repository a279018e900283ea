package kit

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers/fault"
)

// Aged is a value that is cached for a while. The zero value is empty. It is safe for
// concurrent use: callers that need a value that is being fetched wait for it, and
// callers that accept the cached one do not.
type Aged[T any] struct {
	mu       sync.Mutex
	value    T
	at       time.Time
	fetching flight
}

// Get returns the value, and fetches it if it is older than the age. It returns the
// error of fetch, which keeps the cached value, or the context's.
func (a *Aged[T]) Get(ctx context.Context, now time.Time, age time.Duration, fetch func(context.Context) (T, error)) (T, error) {
	var none T
	a.mu.Lock()
	defer a.mu.Unlock()
	known := func() bool { return !a.at.IsZero() && now.Sub(a.at) < age }
	for !known() {
		mine, err := a.fetching.begin(ctx, &a.mu)
		if err != nil {
			return none, err
		}
		if !mine {
			continue
		}
		value, forgotten, err := fetchUnlocked(&a.fetching, &a.mu, func() (T, error) { return fetch(ctx) })
		if err != nil {
			return none, err
		}
		if !forgotten {
			a.value, a.at = value, now
		}
		return value, nil
	}
	return a.value, nil
}

// Last returns the last fetched value, regardless of its age.
func (a *Aged[T]) Last() T {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.value
}

// Forget makes the next Get fetch. The result of a running fetch is not kept.
func (a *Aged[T]) Forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = time.Time{}
	a.fetching.forgotten = true
}

// flight is one fetching at a time. Its fields are guarded by the lock of its owner.
type flight struct {
	done      chan struct{} // closed when the running fetch has ended; nil: none
	forgotten bool          // the running fetch is outdated
}

// begin makes the caller the fetcher, or waits, without the lock, for the current one:
// then it returns false. Its error is the context's.
func (f *flight) begin(ctx context.Context, mu *sync.Mutex) (mine bool, err error) {
	if f.done == nil {
		f.done, f.forgotten = make(chan struct{}), false
		return true, nil
	}
	done := f.done
	mu.Unlock()
	defer mu.Lock()
	select {
	case <-done:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// fetchUnlocked fetches without the lock, and holds it again when it returns. The next
// caller can fetch then, also after a panic. forgotten reports whether the result is
// outdated.
func fetchUnlocked[T any](f *flight, mu *sync.Mutex, fetch func() (T, error)) (value T, forgotten bool, err error) {
	mu.Unlock()
	defer func() {
		mu.Lock()
		close(f.done)
		f.done, forgotten = nil, f.forgotten
	}()
	value, err = fetch()
	return value, false, err
}

// Known caches resources by their ids, including ids without a resource. It is safe for
// concurrent use, as Aged is.
type Known[K cmp.Ordered, V any] struct {
	age, absent time.Duration
	passing     func(V) bool

	mu       sync.Mutex
	entries  map[K]entry[V]
	version  int
	fetching flight
}

// entry is a resource, or the record that there is none.
type entry[V any] struct {
	value  V
	exists bool
	at     time.Time
}

// NewKnown returns an empty cache with one validity for resources, and another for
// missing ones and for resources in a transitional state. passing can be nil.
func NewKnown[K cmp.Ordered, V any](age, absent time.Duration, passing func(V) bool) *Known[K, V] {
	return &Known[K, V]{age: age, absent: absent, passing: passing, entries: map[K]entry[V]{}}
}

// Get returns the existing resources, and a number that changes with the contents of the
// cache. Missing and expired entries are fetched; it returns the error of fetch or of
// the context.
func (k *Known[K, V]) Get(ctx context.Context, now time.Time, ids []K, fetch func(context.Context, []K) (map[K]V, error)) (map[K]V, int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for stale := k.stale(now, ids); len(stale) > 0; stale = k.stale(now, ids) {
		mine, err := k.fetching.begin(ctx, &k.mu)
		if err != nil {
			return nil, 0, err
		}
		if !mine {
			continue
		}
		found, forgotten, err := fetchUnlocked(&k.fetching, &k.mu, func() (map[K]V, error) { return fetch(ctx, stale) })
		if err != nil {
			return nil, 0, err
		}
		if !forgotten {
			k.learn(now, stale, found)
		}
		out := k.existing(ids)
		maps.Copy(out, found)
		return out, k.version, nil
	}
	return k.existing(ids), k.version, nil
}

// One returns the resource of one id, and whether it exists; ask reports NotFound otherwise.
func (k *Known[K, V]) One(ctx context.Context, now time.Time, id K, ask func(context.Context, K) (V, error)) (V, bool, error) {
	known, _, err := k.Get(ctx, now, []K{id}, Each(ask))
	value, exists := known[id]
	return value, exists, err
}

// Each returns a fetch for Get that reads one resource after the other. NotFound means
// that the resource does not exist.
func Each[K cmp.Ordered, V any](ask func(context.Context, K) (V, error)) func(context.Context, []K) (map[K]V, error) {
	return func(ctx context.Context, ids []K) (map[K]V, error) {
		out := make(map[K]V, len(ids))
		for _, id := range ids {
			value, err := ask(ctx, id)
			switch {
			case fault.Is(err, fault.NotFound):
			case err != nil:
				return nil, err
			default:
				out[id] = value
			}
		}
		return out, nil
	}
}

func (k *Known[K, V]) stale(now time.Time, ids []K) []K {
	return slices.DeleteFunc(slices.Clone(ids), func(id K) bool {
		e, ok := k.entries[id]
		return ok && now.Sub(e.at) < k.ageOf(e)
	})
}

func (k *Known[K, V]) existing(ids []K) map[K]V {
	out := make(map[K]V, len(ids))
	for _, id := range ids {
		if e := k.entries[id]; e.exists {
			out[id] = e.value
		}
	}
	return out
}

func (k *Known[K, V]) learn(now time.Time, asked []K, found map[K]V) {
	k.version++
	// Entries without recent use are dropped.
	maps.DeleteFunc(k.entries, func(_ K, e entry[V]) bool { return now.Sub(e.at) > 2*k.age })
	for _, id := range asked {
		k.entries[id] = entry[V]{at: now}
	}
	for id, value := range found {
		k.entries[id] = entry[V]{value: value, exists: true, at: now}
	}
}

func (k *Known[K, V]) ageOf(e entry[V]) time.Duration {
	if e.exists && (k.passing == nil || !k.passing(e.value)) {
		return k.age
	}
	return k.absent
}

// Forget makes the next Get of the ids fetch. The result of a running fetch is not
// kept.
func (k *Known[K, V]) Forget(ids ...K) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range ids {
		delete(k.entries, id)
	}
	k.version++
	k.fetching.forgotten = true
}

// All returns all cached resources that exist.
func (k *Known[K, V]) All() map[K]V {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make(map[K]V, len(k.entries))
	for id, e := range k.entries {
		if e.exists {
			out[id] = e.value
		}
	}
	return out
}
