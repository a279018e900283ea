package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Options configure a Fence.
type Options struct {
	// Namespace and Name are those of the Lease.
	Namespace, Name string
	// Duration is how long a renewal lasts for other replicas.
	Duration time.Duration
	// Now is a clock that counts suspension; such as CLOCK_BOOTTIME of Linux.
	Now func() time.Duration
	// Lost is called once, when the term is over. A program ends there.
	Lost func(reason error)
}

// Fence reports whether the process may write. It is safe for concurrent use.
type Fence struct {
	options Options
	term    context.Context //nolint:containedctx // its end is what the type is about
	end     context.CancelCauseFunc

	mu      sync.Mutex
	holder  string        // the name of this process in the Lease; empty: it has never led
	renewed time.Duration // when the last successful renewal was sent
	doubt   bool          // the API server has refused a renewal since, as overtaken
}

// Why the process must not write.
var (
	errNotHeld  = errors.New("this process has not acquired its Lease yet")
	errDoubtful = errors.New("another process has written the Lease: waiting for the next renewal")
)

// New returns a fence of a process that does not lead yet.
func New(o Options) *Fence {
	f := &Fence{options: o}
	f.term, f.end = context.WithCancelCause(context.Background())
	return f
}

// margin returns how long before the end of the Lease writes cease: a call that was sent
// takes effect later, at most by about that much.
func (f *Fence) margin() time.Duration { return f.options.Duration / 3 }

// Err returns why the process must not write now; nil: it may. A Lease that has run out
// ends the term, whether or not another process has taken it.
func (f *Fence) Err() error {
	if f.term.Err() != nil {
		return context.Cause(f.term)
	}
	f.mu.Lock()
	holder, age, doubt := f.holder, f.options.Now()-f.renewed, f.doubt
	f.mu.Unlock()
	switch {
	case holder == "":
		return errNotHeld
	case age >= f.options.Duration:
		return f.lose(fmt.Errorf("the Lease was not renewed for %v, and lasts %v", age.Round(time.Millisecond), f.options.Duration))
	case age >= f.options.Duration-f.margin():
		return fmt.Errorf("the Lease was not renewed for %v: waiting for the next renewal", age.Round(time.Millisecond))
	case doubt:
		return errDoubtful
	}
	return nil
}

// Term is canceled when the term is over. Calls that are under way end with it.
func (f *Fence) Term() context.Context { return f.term }

// Held reports whether the process has ever acquired the Lease.
func (f *Fence) Held() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.holder != ""
}

// Age returns how old the last successful renewal is; false: there was none.
func (f *Fence) Age() (time.Duration, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.options.Now() - f.renewed, f.holder != ""
}

// renew notes a renewal that was sent at a time and has succeeded. An empty holder gives
// the Lease up.
func (f *Fence) renew(sent time.Duration, holder string) {
	f.mu.Lock()
	gave := holder == "" && f.holder != ""
	if holder != "" {
		f.holder, f.renewed, f.doubt = holder, max(f.renewed, sent), false
	}
	f.mu.Unlock()
	if gave {
		_ = f.lose(errors.New("this process has given up its Lease"))
	}
}

// see notes the holder of the Lease.
func (f *Fence) see(holder string) {
	f.mu.Lock()
	mine := f.holder
	if holder == mine {
		f.doubt = false
	}
	f.mu.Unlock()
	if mine != "" && holder != mine {
		_ = f.lose(fmt.Errorf("the Lease is held by %q now", holder))
	}
}

// suspect notes that a renewal was refused because the Lease has changed.
func (f *Fence) suspect() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.doubt = true
}

// lose ends the term and returns why.
func (f *Fence) lose(reason error) error {
	f.mu.Lock()
	first := f.term.Err() == nil
	f.end(reason)
	f.mu.Unlock()
	if first && f.options.Lost != nil {
		f.options.Lost(reason)
	}
	return context.Cause(f.term)
}

// watchInterval is how often the fence looks at the clock when nothing is written.
const watchInterval = 500 * time.Millisecond

// Watch ends the term when the Lease runs out, also while nothing is written. It returns
// when the term is over, or ctx is.
func (f *Fence) Watch(ctx context.Context, c clock.WithTicker) {
	ticker := c.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C():
			_ = f.Err() // it ends the term itself
		case <-f.term.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}
