package kit

import (
	"context"
	"math"
	"time"

	"github.com/berth-lb/berth/providers/fault"
)

// DefaultShare is the part of a documented rate that is used where the setting says
// nothing; the rest is left to other programs of the account.
const DefaultShare = 0.9

// Unlimited returns the share with which documented rates do not count: only what the
// cloud refuses slows calls down.
func Unlimited() float64 { return math.Inf(1) }

const (
	// defaultPatience is for how long a call that is throttled again and again repeats
	// itself.
	defaultPatience = 10 * time.Minute
	// defaultCallTimeout bounds one call, from its token to its answer.
	defaultCallTimeout = time.Minute
)

// Bucket is the rate that a cloud documents for a class of its operations.
type Bucket struct {
	Name  string
	Rate  float64 // calls a second; 0: none is known, and only refusals limit it
	Burst int     // calls at once
}

// LimitOptions say how a session is limited.
type LimitOptions struct {
	Buckets []Bucket
	// Share is the part of every bucket that is used, above 0; more than 1 where the
	// cloud has raised its rates for the account. 0 is DefaultShare.
	Share float64
	// Blame returns which of the buckets of a throttled call the cloud's answer is
	// about; nil: all of them.
	Blame func(err error, names []string) []string
	// Patience is for how long a throttled call repeats itself; 0 is ten minutes.
	Patience time.Duration
	// CallTimeout bounds one call without its wait for a token; 0 is a minute,
	// negative is no bound.
	CallTimeout time.Duration
	// InFlight is how many calls may be under way at once; 0: as many as want. Who
	// waits for another one to end holds no token meanwhile, and its time does not run.
	InFlight int
	Now      func() time.Time
	// Waited is told how long a call has waited for its token; nil: nothing is.
	Waited func(bucket string, d time.Duration)
}

// Limits are the token buckets of one session. Calls that find no token wait, the
// most urgent and oldest first; what the cloud throttles all the same slows its
// bucket down and is repeated. It is safe for concurrent use.
type Limits struct {
	options LimitOptions
	buckets map[string]*bucket
	other   *bucket // of operations that no bucket is declared for
	room    *room
}

// NewLimits returns limits with full buckets.
func NewLimits(o LimitOptions) *Limits {
	if o.Share <= 0 {
		o.Share = DefaultShare
	}
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	if o.CallTimeout == 0 {
		o.CallTimeout = defaultCallTimeout
	}
	if o.Waited == nil {
		o.Waited = func(string, time.Duration) {}
	}
	r := newRoom(o.InFlight)
	l := &Limits{options: o, buckets: map[string]*bucket{}, other: newBucket(Bucket{}, o, r), room: r}
	for _, b := range o.Buckets {
		l.buckets[b.Name] = newBucket(b, o, r)
	}
	return l
}

// Do makes a call as soon as each of the named buckets has a token for it, in the
// order of the context's Turn. A call that is answered with a Throttled fault took
// no effect: its buckets pause for as long as the fault asks, become slower, and it
// is made again, until the patience is over. Any other result is returned as it is.
// If ctx ends first, the fault is Unavailable and nothing was sent.
func (l *Limits) Do(ctx context.Context, call func(context.Context) error, names ...string) error {
	buckets := l.bucketsOf(names)
	began := l.options.Now()
	for {
		for i, b := range buckets {
			waited, err := b.take(ctx, i == len(buckets)-1)
			if err != nil {
				return &fault.Fault{Meaning: fault.Unavailable, Text: "stopped before it was sent", Err: err}
			}
			l.options.Waited(b.Name, waited)
		}
		sent := l.options.Now()
		err := l.bounded(ctx, call)
		now := l.options.Now()
		if !fault.Is(err, fault.Throttled) {
			for _, b := range buckets {
				b.passed()
			}
			return err
		}
		for _, b := range l.blamed(err, names) {
			b.refused(sent, now, fault.After(err))
		}
		if now.Sub(began) > l.options.Patience || ctx.Err() != nil {
			return err
		}
	}
}

// Yield returns when no other call as urgent as the context's waits for a token of the
// named buckets and each has one, or after a time, or when ctx ends. What comes after it
// is a call for many: the calls of each of them, which it waits for, then go first, so
// that it can take more along.
func (l *Limits) Yield(ctx context.Context, most time.Duration, names ...string) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for _, b := range l.bucketsOf(names) {
		b.yield(ctx)
	}
}

// Read makes a reading call as Do does, with its errors as faults.
func (l *Limits) Read(ctx context.Context, e Errors, bucket string, call func(context.Context) error) error {
	return l.Do(ctx, func(ctx context.Context) error { return e.Fault(call(ctx), Reading) }, bucket)
}

// Write makes a writing call as Do does, with its errors as faults: Ambiguous if it may
// have taken effect without an answer.
func (l *Limits) Write(ctx context.Context, e Errors, bucket string, call func(context.Context) error) error {
	return l.Do(ctx, func(ctx context.Context) error {
		progress, err := Write(ctx, call)
		return e.Fault(err, progress)
	}, bucket)
}

// blamed returns the buckets that a refusal is about.
func (l *Limits) blamed(err error, names []string) []*bucket {
	if l.options.Blame != nil {
		names = l.options.Blame(err, names)
	}
	return l.bucketsOf(names)
}

// bounded makes the call with a deadline of its own, and leaves the room.
func (l *Limits) bounded(ctx context.Context, call func(context.Context) error) error {
	defer l.room.leave()
	if l.options.CallTimeout < 0 {
		return call(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, l.options.CallTimeout)
	defer cancel()
	return call(ctx)
}

// Free returns whether a call that counts for a bucket would go out at once. Who asks
// takes no token.
func (l *Limits) Free(ctx context.Context, name string) bool {
	turn, _ := turnNow(ctx)
	for _, b := range l.bucketsOf([]string{name}) {
		if !b.free(turn.Urgency) {
			return false
		}
	}
	return true
}

// Remaining takes over what the cloud says is left in a bucket, such as in the
// headers of an answer: never more than is counted here.
func (l *Limits) Remaining(name string, calls int) {
	for _, b := range l.bucketsOf([]string{name}) {
		b.atMost(calls)
	}
}

// bucketsOf returns the buckets of the names; one for all unknown names.
func (l *Limits) bucketsOf(names []string) []*bucket {
	var out []*bucket
	for _, n := range names {
		if b, ok := l.buckets[n]; ok {
			out = append(out, b)
		}
	}
	if len(out) == 0 {
		return []*bucket{l.other}
	}
	return out
}
