package health

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
)

// Options say what is waited for, and for how long.
type Options struct {
	Clock clock.PassiveClock
	// Stuck is how long one Service may be worked on, and how long no worker may
	// end while Services wait, until the workers count as stuck: nothing ends meanwhile.
	Stuck time.Duration
	// Probe makes one call to the cloud that needs credentials; nil: no probe. Its
	// error also reports that no call was made, for want of a token.
	Probe func(context.Context) error
}

// Health is the observed state of the process. All methods do nothing on a nil
// pointer and are safe for concurrent use.
type Health struct {
	options Options

	mu      sync.Mutex
	leads   bool
	synced  bool
	primed  bool
	waiting func() time.Duration // for how long the first Service has waited for a worker
	working map[string]time.Time // since when a key is worked on
	ended   time.Time            // when a worker ended last
	cloud   cloud
}

// cloud is what the process knows of its credentials.
type cloud struct {
	answered bool   // once, whatever was asked
	refused  string // the last refusal before that
	probed   time.Time
	probing  bool
}

// New makes a health of which nothing is known yet.
func New(o Options) *Health { return &Health{options: o, working: map[string]time.Time{}} }

// Lead says that the process works on Services from now on.
func (h *Health) Lead() {
	h.set(func() { h.leads = true })
}

// Synced says that the caches have all Services and nodes, and that workers begin.
// waiting tells for how long the first Service has waited for one of them, zero if
// none waits.
func (h *Health) Synced(waiting func() time.Duration) {
	h.set(func() { h.synced, h.ended, h.waiting = true, h.options.Clock.Now(), waiting })
}

// Primed says that the ledger knows what every Service wants.
func (h *Health) Primed() { h.set(func() { h.primed = true }) }

// Begin says that a worker has taken a key; what it returns is to be called when
// it has ended.
func (h *Health) Begin(key string) func() {
	if h == nil {
		return func() {}
	}
	h.set(func() { h.working[key] = h.options.Clock.Now() })
	return func() {
		h.set(func() {
			delete(h.working, key)
			h.ended = h.options.Clock.Now()
		})
	}
}

func (h *Health) set(change func()) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

// Call learns from a call to the cloud whether the credentials work; it is a
// providers.Observe.
func (h *Health) Call(context.Context, providers.Call) func(providers.Answer) {
	return func(a providers.Answer) {
		h.set(func() {
			switch {
			case a.OK() || a.Meaning != fault.Denied && a.Meaning != fault.Unavailable:
				h.cloud.answered = true // a refusal of what was asked is an answer as well
			default:
				h.cloud.refused = a.Code
			}
		})
	}
}

// Alive returns an error if the workers do not get on.
func (h *Health) Alive() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.options.Clock.Now()
	for _, since := range h.working {
		// Work waits for the cloud's rate and for its operations; what others get done
		// meanwhile shows that it is no more than that.
		if took := now.Sub(since); took > h.options.Stuck && now.Sub(h.ended) > h.options.Stuck {
			return fmt.Errorf("workers: one Service has been worked on for %s", took.Round(time.Second))
		}
	}
	if idle := now.Sub(h.ended); h.synced && idle > h.options.Stuck && h.waiting() > h.options.Stuck {
		return fmt.Errorf("workers: Services wait, and no worker has ended anything for %s", idle.Round(time.Second))
	}
	return nil
}

// Check is one part of being ready.
type Check struct {
	Name string
	Well bool
	Says string
}

// Report is the readiness of the process and what it does.
type Report struct {
	Leads  bool
	Checks []Check
}

// Ready reports whether all checks pass.
func (r Report) Ready() bool {
	for _, c := range r.Checks {
		if !c.Well {
			return false
		}
	}
	return true
}

// Ready reports whether the process does, or could at once do, what it is for. One
// that stands by is ready when the cloud has let it in.
func (h *Health) Ready() Report {
	h.probe()
	h.mu.Lock()
	defer h.mu.Unlock()
	r := Report{Leads: h.leads, Checks: []Check{h.cloud.check()}}
	if h.leads {
		r.Checks = append(r.Checks,
			Check{"caches", h.synced, map[bool]string{true: "have all Services and nodes", false: "are being filled"}[h.synced]},
			Check{"ledger", h.primed, map[bool]string{true: "knows what every Service wants", false: "does not know what every Service wants yet"}[h.primed]})
	}
	return r
}

func (c cloud) check() Check {
	switch {
	case c.answered:
		return Check{"cloud", true, "has answered with these credentials"}
	case c.refused != "":
		return Check{"cloud", false, "has not let us in: " + c.refused}
	}
	return Check{"cloud", false, "has not been heard yet"}
}

// probePause is how soon the cloud is asked again that did not let us in.
const probePause = 10 * time.Second

// probe calls the cloud in the background until the cloud has answered any call.
func (h *Health) probe() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.options.Clock.Now()
	if h.options.Probe == nil || h.cloud.answered || h.cloud.probing || !h.cloud.probed.IsZero() && now.Sub(h.cloud.probed) < probePause {
		return
	}
	h.cloud.probing, h.cloud.probed = true, now
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), probePause)
		defer cancel()
		err := h.options.Probe(ctx)
		h.set(func() {
			h.cloud.probing = false
			if err != nil && h.cloud.refused == "" {
				h.cloud.refused = fault.Of(err).String()
			}
		})
	}()
}
