package sim

import (
	"fmt"
	"path"
	"sync"
	"time"
)

// Bucket is a token bucket over a group of operations.
type Bucket struct {
	Name string `json:"name"`
	// Service is a glob pattern; empty means any.
	Service string `json:"service,omitempty"`
	// Operations are glob patterns; an empty list means any. A call belongs to
	// the first bucket that matches.
	Operations []string `json:"operations,omitempty"`
	// Capacity is the size of a burst, in calls.
	Capacity float64 `json:"capacity"`
	// Refill is in calls per second.
	Refill float64 `json:"refill"`
}

func (b Bucket) covers(service, operation string) bool {
	if !matches(b.Service, service) {
		return false
	}
	if len(b.Operations) == 0 {
		return true
	}
	for _, pattern := range b.Operations {
		if matches(pattern, operation) {
			return true
		}
	}
	return false
}

// Throttle is a list of buckets. The zero value lets everything through; it is
// safe for concurrent use.
type Throttle struct {
	mu      sync.Mutex
	buckets []*level
}

type level struct {
	Bucket
	tokens float64
	at     time.Time
}

// Set replaces all buckets; they start full. No buckets switches throttling off.
func (t *Throttle) Set(buckets ...Bucket) error {
	list := make([]*level, 0, len(buckets))
	for _, b := range buckets {
		for _, pattern := range append([]string{b.Service}, b.Operations...) {
			if _, err := path.Match(pattern, ""); err != nil {
				return fmt.Errorf("bucket %s: pattern %q: %w", b.Name, pattern, err)
			}
		}
		if b.Capacity < 0 || b.Refill < 0 {
			return fmt.Errorf("bucket %s: capacity %v and refill %v: want at least 0", b.Name, b.Capacity, b.Refill)
		}
		list = append(list, &level{Bucket: b, tokens: b.Capacity})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buckets = list
	return nil
}

// List gives the buckets as they were set.
func (t *Throttle) List() []Bucket {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]Bucket, 0, len(t.buckets))
	for _, b := range t.buckets {
		out = append(out, b.Bucket)
	}
	return out
}

// Take takes a token for a call; false means that the call must be refused.
func (t *Throttle) Take(service, operation string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range t.buckets {
		if !b.covers(service, operation) {
			continue
		}
		if !b.at.IsZero() && now.After(b.at) {
			b.tokens = min(b.Capacity, b.tokens+b.Refill*now.Sub(b.at).Seconds())
		}
		b.at = now
		if b.tokens < 1 {
			return false
		}
		b.tokens--
		return true
	}
	return true
}
