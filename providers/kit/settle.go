package kit

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// earliest and latest bound when somebody who waits is asked for first.
	earliest, latest = 150 * time.Millisecond, 2 * time.Second
	// closest and widest bound the pause between two questions, which is a quarter of
	// what a change usually takes: whoever begins meanwhile shares the next one.
	closest, widest = 250 * time.Millisecond, time.Second
	// latestAlone bounds it where a question is about one thing.
	latestAlone = 15 * time.Second
	// longest is the longest pause between two questions for the same thing.
	longest = 5 * time.Second
)

// Settling waits for resources that are busy with a change, such as load balancers of
// which each takes one change at a time. One question serves all waiters. It learns
// how long changes take, and does not ask before.
type Settling struct {
	ask     func(context.Context, []string) (map[string]string, error)
	busy    func(state string) bool
	mu      sync.Mutex
	waiting map[string][]*settleWaiter
	running bool
	woken   chan struct{} // somebody has come
	asked   time.Time     // the last question
	pace    pace
}

// settleWaiter is one caller waiting for a resource to become stable.
type settleWaiter struct {
	since, due time.Time
	busy       time.Duration // so long it was seen to be busy
	done       chan string
}

// NewSettling returns a Settling that learns the states of things by their ids from ask,
// and from busy which of those pass.
func NewSettling(ask func(context.Context, []string) (map[string]string, error), busy func(state string) bool) *Settling {
	return &Settling{ask: ask, busy: busy, waiting: map[string][]*settleWaiter{}, woken: make(chan struct{}, 1), pace: pace{rest: closest, first: earliest}}
}

// OneByOne has only those asked for that may have settled, where a question is about one
// thing: it costs nothing less to be asked together with others. It returns w.
func (w *Settling) OneByOne() *Settling {
	w.pace.each = true
	return w
}

// Resting lets no less than a pause pass before a question, for a cloud whose changes
// hardly ever take less: what ends meanwhile is told by one answer. It returns w.
func (w *Settling) Resting(pause time.Duration) *Settling {
	w.pace.rest, w.pace.first = pause, pause
	return w
}

// Usually declares how long changes of this cloud usually take; the pauses and their bounds
// follow from it. What is measured corrects the declaration. It returns w.
func (w *Settling) Usually(d time.Duration) *Settling {
	w.pace.declared, w.pace.usual = d, d
	return w
}

// Wait returns the state in which a thing has settled, or the context's error.
func (w *Settling) Wait(ctx context.Context, id string) (string, error) {
	mine := w.join(ctx, id)
	select {
	case status := <-mine.done:
		return status, nil
	case <-ctx.Done():
		w.leave(id, mine)
		return "", ctx.Err()
	}
}

func (w *Settling) join(ctx context.Context, id string) *settleWaiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	mine := &settleWaiter{since: now, due: now.Add(w.pace.begin()), done: make(chan string, 1)}
	w.waiting[id] = append(w.waiting[id], mine)
	if !w.running {
		w.running = true
		go w.run(context.WithoutCancel(ctx))
		return mine
	}
	select {
	case w.woken <- struct{}{}:
	default:
	}
	return mine
}

// leave has somebody wait no more, so that nobody asks for those who went away.
func (w *Settling) leave(id string, mine *settleWaiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting[id] = slices.DeleteFunc(w.waiting[id], func(other *settleWaiter) bool { return other == mine })
	if len(w.waiting[id]) == 0 {
		delete(w.waiting, id)
	}
}

// run asks until nobody waits any more. Questions that are not answered are asked again.
func (w *Settling) run(ctx context.Context) {
	for {
		pause, more := w.next()
		switch {
		case !more:
			return
		case pause > 0:
			w.sleep(pause)
			continue
		}
		ids := w.left()
		answers, err := w.ask(ctx, ids)
		if err != nil {
			answers = nil
		}
		w.answer(ids, answers)
	}
}

// sleep pauses, unless somebody comes who may be due before.
func (w *Settling) sleep(pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.woken:
	}
}

// next is how long it is until the next question; false if nobody waits, and then
// nothing asks any more.
func (w *Settling) next() (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = len(w.waiting) > 0
	var due time.Time
	for _, all := range w.waiting {
		for _, one := range all {
			if due.IsZero() || one.due.Before(due) {
				due = one.due
			}
		}
	}
	if soon := w.asked.Add(w.pace.spacing()); due.Before(soon) && len(w.waiting) > 1 && !w.pace.each {
		due = soon // with one question for several of them
	}
	return time.Until(due), w.running
}

// left are those that are to be asked for.
func (w *Settling) left() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = time.Now()
	ids := make([]string, 0, len(w.waiting))
	for id, all := range w.waiting {
		if !w.pace.each || slices.ContainsFunc(all, func(one *settleWaiter) bool { return !one.due.After(w.asked) }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// answer hands out what was answered, to those who waited when the question went out.
func (w *Settling) answer(asked []string, answers map[string]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var youngest *settleWaiter
	for _, id := range asked {
		all := w.waiting[id]
		status, answered := answers[id]
		settled := answered && !w.busy(status)
		w.waiting[id] = slices.DeleteFunc(all, func(one *settleWaiter) bool {
			age := w.asked.Sub(one.since)
			switch {
			case !settled:
				w.postpone(one, answered)
				return false
			case age < 0: // what was answered is from before
				return false
			case youngest == nil || one.since.After(youngest.since):
				youngest = one
			}
			one.done <- status
			return true
		})
		if len(w.waiting[id]) == 0 {
			delete(w.waiting, id)
		}
	}
	if youngest != nil {
		w.pace.learn(youngest.busy, w.asked.Sub(youngest.since))
	}
}

// postpone asks for somebody again when a while has passed that grows with the wait.
func (w *Settling) postpone(one *settleWaiter, answered bool) {
	age := w.asked.Sub(one.since)
	if age < 0 {
		return // it came after the question
	}
	one.due = w.asked.Add(w.pace.again(age))
	if answered {
		one.busy = age
	}
}
