package explore

import (
	"fmt"
	"time"
)

// Kind is what happens at a step other than the usual.
type Kind string

// The kinds of deviations. By default the point that waited first proceeds, and users act
// when all is quiet.
const (
	// Usual is no deviation.
	Usual Kind = ""
	// Refuse answers that it is not allowed.
	Refuse Kind = "refuse"
	// Throttle answers that there were too many calls.
	Throttle Kind = "throttle"
	// Lost takes the request away before it has an effect.
	Lost Kind = "lost"
	// Unanswered lets the request have its effect and takes the answer away.
	Unanswered Kind = "unanswered"
	// Stale answers a read as it would have been five seconds ago.
	Stale Kind = "stale"
	// Slow holds a point back for a time, while all others go on.
	Slow Kind = "slow"
	// Merge shows two changes of one object as one: an informer sees the later alone.
	Merge Kind = "merge"
	// Miss drops a change for an informer, whose watch then breaks; the informer lists again.
	Miss Kind = "miss"
	// Last lets the last waiting point proceed instead of the first.
	Last Kind = "last"
	// User has the next change come now.
	User Kind = "user"
	// Die ends the process and starts another one. What it had under way is lost.
	Die Kind = "die"
	// Depose ends the process and starts another one, while the requests of the first are still
	// on their way and take effect later. Deletions take effect at once: no cloud can
	// distinguish a late one from one of the next process.
	Depose Kind = "depose"
	// Sleep stops the process for a time, as a suspended machine does. Once its Lease has run
	// out another process starts. What it had sent takes effect, and it receives the answers
	// when it continues.
	Sleep Kind = "sleep"
	// Late ends the process and starts another one. The write at this point takes effect after
	// a while, a deletion at once; everything else that was under way is lost.
	Late Kind = "late"
)

// Deviation is what happens at one step of a schedule.
type Deviation struct {
	Kind Kind
	For  time.Duration // of Slow, Sleep and Late
}

// String is how a story tells it.
func (d Deviation) String() string {
	if d.For > 0 {
		return fmt.Sprintf("%s %v", d.Kind, d.For)
	}
	return string(d.Kind)
}

// options are the deviations that make sense at a point. New ones come last: kept schedules
// select by number.
func (p *Point) options() []Deviation {
	out := p.short()
	for _, length := range []time.Duration{20 * time.Second, time.Minute, 10 * time.Minute} {
		out = append(out, Deviation{Kind: Sleep, For: length})
	}
	if p.Party == Cloud && p.Write {
		out = append(out, Deviation{Kind: Late, For: 8 * time.Second})
	}
	return out
}

// short are the deviations that make sense at a point, but for Sleep and Late.
func (p *Point) short() []Deviation {
	kinds := []Deviation{{Kind: Slow, For: 3 * time.Second}, {Kind: Slow, For: 20 * time.Second}, {Kind: Last}, {Kind: User}, {Kind: Die}, {Kind: Depose}}
	switch {
	case p.Party == Other:
		return kinds
	case p.Party == Watch:
		return append(kinds, Deviation{Kind: Merge}, Deviation{Kind: Miss})
	case p.Party == Cloud && !p.Write:
		return append(kinds, Deviation{Kind: Refuse}, Deviation{Kind: Throttle}, Deviation{Kind: Lost}, Deviation{Kind: Stale})
	case p.Party == Cloud:
		return append(kinds, Deviation{Kind: Refuse}, Deviation{Kind: Throttle}, Deviation{Kind: Lost}, Deviation{Kind: Unanswered})
	}
	return append(kinds, Deviation{Kind: Refuse}, Deviation{Kind: Lost}, Deviation{Kind: Unanswered})
}
