package observed

import (
	"maps"
	"sync"
	"time"
)

// Values holds what the reads and writes of a session have shown of resources, by key, where the
// steps of many Services need it between their reads. A read that began before the last write to
// its key ended changes nothing. It is safe for concurrent use; values are shared and must not be
// changed. See NewValues.
type Values[K comparable, V any] struct {
	now func() time.Time

	mu    sync.Mutex
	all   map[K]*value[V]
	swept time.Time
}

// value is the entry of one key.
type value[V any] struct {
	known  V
	at     time.Time // when its read began or its write ended; zero: unknown
	writes int       // that have ended
	used   time.Time // when a read began or a write ended
}

// Mark is the begin of a read.
type Mark struct {
	at     time.Time
	writes int
}

// NewValues returns an empty set.
func NewValues[K comparable, V any](now func() time.Time) *Values[K, V] {
	return &Values[K, V]{now: now, all: map[K]*value[V]{}}
}

// at returns the entry of a key, a new one if there is none. The lock is held.
func (v *Values[K, V]) at(key K) *value[V] {
	if v.all[key] == nil {
		v.all[key] = &value[V]{}
	}
	return v.all[key]
}

// Get returns the value of a key. False: it is unknown, or at least as old as the age. An age of
// zero is any.
func (v *Values[K, V]) Get(key K, age time.Duration) (V, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.all[key]; e != nil && v.isFresh(e, age) {
		return e.known, true
	}
	var none V
	return none, false
}

// All returns the values that Get returns.
func (v *Values[K, V]) All(age time.Duration) map[K]V {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := map[K]V{}
	for key, e := range v.all {
		if v.isFresh(e, age) {
			out[key] = e.known
		}
	}
	return out
}

func (v *Values[K, V]) isFresh(e *value[V], age time.Duration) bool {
	return !e.at.IsZero() && (age == 0 || v.now().Sub(e.at) < age)
}

// Begin records that a read begins, and returns the argument for Listed.
func (v *Values[K, V]) Begin(key K) Mark {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.at(key)
	e.used = v.now()
	return Mark{at: e.used, writes: e.writes}
}

// Listed records the result of a read, unless its key was written to in the meantime.
func (v *Values[K, V]) Listed(key K, began Mark, shown V) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.at(key); e.writes == began.writes {
		e.known, e.at = shown, began.at
	}
}

// Set records the value that a write has left, or that does not change as long as the resource
// exists.
func (v *Values[K, V]) Set(key K, after V) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e, now := v.at(key), v.now()
	*e = value[V]{known: after, at: now, writes: e.writes + 1, used: now}
}

// Changed records a write that has changed a part of a value. The rest is as old as before, and
// an unknown value stays unknown.
func (v *Values[K, V]) Changed(key K, change func(V) V) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.at(key)
	e.writes, e.used = e.writes+1, v.now()
	if !e.at.IsZero() {
		e.known = change(e.known)
	}
}

// Forget makes the value of a key unknown, before or after a write with an unknown result.
func (v *Values[K, V]) Forget(key K) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.forget(key)
}

// ForgetWhere makes the values unknown that match.
func (v *Values[K, V]) ForgetWhere(matches func(K, V) bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for key, e := range v.all {
		if !e.at.IsZero() && matches(key, e.known) {
			v.forget(key)
		}
	}
}

// forget makes a value unknown. What was forgotten long ago is dropped: no read is that old. The
// lock is held.
func (v *Values[K, V]) forget(key K) {
	now := v.now()
	if e := v.all[key]; e != nil {
		*e = value[V]{writes: e.writes + 1, used: now}
	}
	if now.Sub(v.swept) > longRead {
		v.swept = now
		maps.DeleteFunc(v.all, func(_ K, e *value[V]) bool { return e.at.IsZero() && now.Sub(e.used) > longRead })
	}
}
