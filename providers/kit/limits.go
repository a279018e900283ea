package kit

import (
	"context"
	"math"
	"time"

	"github.com/berth-lb/berth/providers/fault"
)

// DefaultShare is the share of a documented rate that is used without a setting; the
// rest is left to other programs of the account.
const DefaultShare = 0.9

// Unlimited returns the share that ignores documented rates: only refusals slow calls
// down.
func Unlimited() float64 { return math.Inf(1) }

const (
	// defaultPatience is the time during which a throttled call is repeated.
	defaultPatience = 10 * time.Minute
	// defaultCallTimeout limits one call, from its token to its answer.
	defaultCallTimeout = time.Minute
)

// Bucket is the documented rate of a class of operations.
type Bucket struct {
	Name  string
	Rate  float64 // calls a second; 0: unknown, only refusals limit it
	Burst int     // calls at once
	// Start is how many calls a second, and at once, a bucket of an unknown rate begins with. It becomes
	// faster with every accepted call. 0: nothing limits it until the first refusal.
	Start int
	// Window limits any period of this length to Burst calls, whatever the share; 0: there is no
	// such limit.
	Window time.Duration
}

// LimitOptions configure the limits of a session.
type LimitOptions struct {
	Buckets []Bucket
	// Share is the share of every bucket that is used, above 0; more than 1 if the
	// cloud has raised its rates for the account. 0 is DefaultShare.
	Share float64
	// Blame returns the buckets of a throttled call that the cloud's answer is about;
	// nil: all.
	Blame func(err error, names []string) []string
	// Patience is the time during which a throttled call is repeated; 0 is ten minutes.
	Patience time.Duration
	// CallTimeout limits one call without its wait for a token; 0 is a minute,
	// negative is unlimited.
	CallTimeout time.Duration
	// InFlight is the maximum number of concurrent calls; 0: unlimited. A call that waits
	// for another one holds no token meanwhile, and its time does not run.
	InFlight int
	Now      func() time.Time
	// Waited observes the time that a call has waited for its token; nil: none.
	Waited func(bucket string, d time.Duration)
}

// Limits are the token buckets of one session. Calls without a token wait, the most
// urgent and oldest first; a call that the cloud still throttles slows its bucket down
// and is repeated. It is safe for concurrent use.
type Limits struct {
	options LimitOptions
	buckets map[string]*bucket
	other   *bucket // of operations without a declared bucket
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
// order of the context's Turn. A call with a Throttled fault had
// no effect: its buckets pause for the requested time and become slower, and it is
// repeated, until the patience is over. Any other result is returned unchanged.
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

// Yield returns when no other call of the context's urgency waits for a token of the
// named buckets and each has one, or after a time, or when ctx ends. It is called before
// a call for many: the calls of single ones that it waits for are then sent first, so
// that it can include more.
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

// Write makes a write call as Do does, with its errors as faults: Ambiguous if it may
// have had an effect without an answer.
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

// Free reports whether a call of a bucket would be sent at once. It takes no token.
func (l *Limits) Free(ctx context.Context, name string) bool {
	turn, _ := turnNow(ctx)
	for _, b := range l.bucketsOf([]string{name}) {
		if !b.free(turn.Urgency) {
			return false
		}
	}
	return true
}

// Remaining applies the remaining calls of a bucket that the cloud reports, such as in
// the headers of an answer: never more than the own count.
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
