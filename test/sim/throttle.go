package sim

import (
	"fmt"
	"math"
	"path"
	"sync"
	"time"
)

// Per says what each has a bucket of its own.
type Per string

// The zero Per is one bucket for all calls.
const (
	PerOperation Per = "operation"
	PerResource  Per = "resource" // by Call.Resource
)

// Bucket is a token bucket over a group of operations.
type Bucket struct {
	Name string `json:"name"`
	// Layer is the service that counts. A call takes from one bucket of every
	// layer, in the order of the list: from the first one that matches.
	Layer string `json:"layer,omitempty"`
	// Service is a glob pattern; empty means any.
	Service string `json:"service,omitempty"`
	// Operations are glob patterns; an empty list means any.
	Operations []string `json:"operations,omitempty"`
	// Per splits the bucket: each operation or each resource has one like it.
	Per Per `json:"per,omitempty"`
	// Units counts what a call is about, such as machines, instead of calls.
	Units bool `json:"units,omitempty"`
	// Capacity is the size of a burst, in calls.
	Capacity float64 `json:"capacity"`
	// Refill is in calls per second.
	Refill float64 `json:"refill"`
	// WindowSeconds fills the bucket up at the beginning of each window instead, counted from
	// midnight UTC; Refill is then the resulting rate.
	WindowSeconds float64 `json:"windowSeconds,omitempty"`
}

// Call is what a bucket looks at.
type Call struct {
	Service, Operation string
	// Resource is what the call is about, where buckets are kept for each.
	Resource string
	// Units is of how many things the call is; 0 means 1.
	Units int
}

func (b Bucket) covers(c Call) bool {
	if !matchesPattern(b.Service, c.Service) {
		return false
	}
	if len(b.Operations) == 0 {
		return true
	}
	for _, pattern := range b.Operations {
		if matchesPattern(pattern, c.Operation) {
			return true
		}
	}
	return false
}

// key tells apart the buckets that one declaration stands for.
func (b Bucket) key(c Call) string {
	switch b.Per {
	case PerOperation:
		return c.Operation
	case PerResource:
		return c.Resource
	}
	return ""
}

func (b Bucket) price(c Call) float64 {
	if b.Units {
		return float64(max(1, c.Units))
	}
	return 1
}

func (b Bucket) check() error {
	for _, pattern := range append([]string{b.Service}, b.Operations...) {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("bucket %s: pattern %q: %w", b.Name, pattern, err)
		}
	}
	if b.Capacity < 0 || b.Refill < 0 || b.WindowSeconds < 0 {
		return fmt.Errorf("bucket %s: capacity %v, refill %v and window %v: want at least 0", b.Name, b.Capacity, b.Refill, b.WindowSeconds)
	}
	if b.Per != "" && b.Per != PerOperation && b.Per != PerResource {
		return fmt.Errorf("bucket %s: per %q: want %s or %s", b.Name, b.Per, PerOperation, PerResource)
	}
	return nil
}

// Throttle is a list of buckets. The zero value lets everything through; it is
// safe for concurrent use.
type Throttle struct {
	mu      sync.Mutex
	buckets []Bucket
	levels  map[levelKey]*level
}

type levelKey struct {
	bucket int
	key    string
}

type level struct {
	tokens float64
	at     time.Time
}

// Taken is the result of taking a call's tokens.
type Taken struct {
	// Refused is true if a bucket was empty; By is its name, and Wait how long it
	// is until there is a token in it again.
	Refused bool
	By      string
	Wait    time.Duration
	// Left are the tokens left in the bucket of each layer.
	Left map[string]int
}

// Set replaces all buckets; they start full. No buckets switches throttling off.
func (t *Throttle) Set(buckets ...Bucket) error {
	for _, b := range buckets {
		if err := b.check(); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buckets, t.levels = append([]Bucket{}, buckets...), map[levelKey]*level{}
	return nil
}

// List gives the buckets as they were set.
func (t *Throttle) List() []Bucket {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Bucket{}, t.buckets...)
}

// Take takes the tokens for a call. A layer that has given its token keeps it,
// also if a later one refuses: it has handed the call on.
func (t *Throttle) Take(c Call, now time.Time) Taken {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := Taken{Left: map[string]int{}}
	for i, b := range t.buckets {
		if _, asked := out.Left[b.Layer]; asked || !b.covers(c) {
			continue
		}
		at := levelKey{i, b.key(c)}
		l := t.levels[at]
		if l == nil {
			l = &level{tokens: b.Capacity, at: now}
			t.levels[at] = l
		}
		b.fill(l, now)
		price := b.price(c)
		if l.tokens < price {
			return Taken{Refused: true, By: b.Name, Wait: b.wait(price-l.tokens, now), Left: out.Left}
		}
		l.tokens -= price
		out.Left[b.Layer] = int(l.tokens)
	}
	return out
}

// fill gives a bucket what has come into it since it was looked at.
func (b Bucket) fill(l *level, now time.Time) {
	if !now.After(l.at) {
		return
	}
	if b.WindowSeconds == 0 {
		l.tokens = min(b.Capacity, l.tokens+b.Refill*now.Sub(l.at).Seconds())
	} else if window := b.window(); !now.Truncate(window).Equal(l.at.Truncate(window)) {
		l.tokens = b.Capacity
	}
	l.at = now
}

func (b Bucket) window() time.Duration { return secondsToDuration(b.WindowSeconds) }

// wait is how long it takes until so many tokens have come.
func (b Bucket) wait(tokens float64, now time.Time) time.Duration {
	switch {
	case b.WindowSeconds > 0:
		return now.Truncate(b.window()).Add(b.window()).Sub(now)
	case b.Refill > 0:
		return secondsToDuration(tokens / b.Refill)
	}
	return math.MaxInt64
}

func secondsToDuration(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// Ideal is the shortest time in which calls can be made under buckets that are
// full at the beginning: of the bucket that takes longest, what is beyond the
// burst, divided by the rate.
func Ideal(buckets []Bucket, calls []Call) time.Duration {
	need := map[levelKey]float64{}
	for _, c := range calls {
		layers := map[string]bool{}
		for i, b := range buckets {
			if !layers[b.Layer] && b.covers(c) {
				layers[b.Layer] = true
				need[levelKey{i, b.key(c)}] += b.price(c)
			}
		}
	}
	var longest time.Duration
	for at, n := range need {
		b := buckets[at.bucket]
		switch beyond := n - b.Capacity; {
		case beyond <= 0:
		case b.Refill > 0:
			longest = max(longest, secondsToDuration(beyond/b.Refill))
		default:
			longest = math.MaxInt64
		}
	}
	return longest
}
