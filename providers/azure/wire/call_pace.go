package wire

import (
	"context"
	"sync"
	"time"
)

const (
	// earlier is how much sooner than the last ones of its kind one operation at a time
	// is asked about, to see whether they have become quicker; while none was asked about
	// in vain, it is earliest.
	earlier, earliest = 0.97, 0.75
	// believed is how many operations are asked about no earlier after the first one, and
	// after one that was asked about in vain: a question in vain is a call, and few writes
	// are three calls each.
	believed = 16
	// safely is how much later the others are, which all would be asked in vain otherwise.
	safely = 1.05
	// scouting is for how long the others wait for the first one of their kind to show
	// how long it takes: it may hang.
	scouting = 30 * time.Second
)

// pace remembers how long operations take, by their kind: asking about each of them
// before it can be over would cost more calls than the writes themselves. While
// nothing is known of a kind, one operation is asked about, and the others wait for
// what that one shows. The zero value knows nothing; it is safe for concurrent use.
type pace struct {
	mu    sync.Mutex
	kinds map[string]*pacing
}

// pacing holds the observed durations of one kind of operation.
type pacing struct {
	took    time.Duration
	at      time.Time     // when that was seen; zero: not yet
	vain    bool          // one was asked about earlier than that, in vain
	trust   int           // so many more are not asked about earlier
	known   chan struct{} // closed when the first one has shown it
	probing bool          // an operation is about to measure it again
}

// guess is what is expected of one operation.
type guess struct {
	pace  *pace
	kind  string
	on    *pacing
	probe bool
	after time.Duration // when to ask; 0: nothing is known
	// again is when to ask next, where the first question is likely to be in vain; 0:
	// it is not.
	again time.Duration
}

// guess returns when to ask about an operation of the kind: the first of a kind after
// as long as the quickest of the others. It waits a while for another one of the kind
// that is about to show it. The guess must be released when the operation is not waited for
// any more.
func (p *pace) guess(ctx context.Context, kind string) *guess {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, seen := p.kinds[kind]
	if !seen {
		g := &guess{pace: p, kind: kind, on: &pacing{known: make(chan struct{}), probing: true}, probe: true}
		for _, other := range p.kinds {
			if after := other.safe(); !other.at.IsZero() && (g.after == 0 || after < g.after) {
				g.after = after
			}
		}
		if p.kinds == nil {
			p.kinds = map[string]*pacing{}
		}
		p.kinds[kind] = g.on
		return g
	}
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, scouting)
	defer cancel()
	select {
	case <-k.known:
	case <-ctx.Done():
	}
	p.mu.Lock()
	g := &guess{pace: p, kind: kind, on: k, after: k.safe()}
	switch {
	case k.probing:
	case k.trust > 0:
		k.trust--
	default:
		k.probing, g.probe, g.again = true, true, g.after
		g.after = time.Duration(float64(k.took) * k.sooner())
	}
	return g
}

// safe is when an operation of the kind has ended if it takes as long as the others did.
func (k *pacing) safe() time.Duration { return time.Duration(float64(k.took) * safely) }

// sooner is the part of what the others took after which one is asked about to see
// whether they have become quicker.
func (k *pacing) sooner() float64 {
	if k.vain {
		return earlier
	}
	return earliest
}

// ended notes that the operation, which began at a moment, was seen to have ended, and
// after how many questions. One that was asked about late shows nothing new, and
// neither does one that began before that was last seen. One that was asked about early
// in vain, and had ended when the others do, shows that they have not become quicker. asked
// is when the last question was due: for how long it then waited behind other calls says
// nothing of the operation.
func (g *guess) ended(began, asked, now time.Time, questions int) {
	g.pace.mu.Lock()
	defer g.pace.mu.Unlock()
	if !g.probe && (questions == 1 || g.on.at.After(began)) {
		return
	}
	first := g.on.at.IsZero()
	if first {
		close(g.on.known)
	}
	if first || questions > 1 {
		g.on.vain, g.on.trust = questions > 1, believed
	}
	if g.again > 0 && questions == 2 {
		g.on.at = now
		return
	}
	g.on.took, g.on.at = asked.Sub(began), now
}

// release lets another operation show how long the kind takes.
func (g *guess) release() {
	g.pace.mu.Lock()
	defer g.pace.mu.Unlock()
	if !g.probe {
		return
	}
	g.on.probing = false
	if g.on.at.IsZero() {
		delete(g.pace.kinds, g.kind)
		close(g.on.known)
	}
}
