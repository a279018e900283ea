package wire

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

const (
	// patience is how long a step waits for its operation. It is longer than any successful
	// operation is known to take.
	patience = 30 * time.Minute
	// unknownPause is the pause before the first poll of the first operation if Azure asks
	// for polling; it is as long as the official controller's. Otherwise it is firstPause,
	// which is also the shortest pause between two polls. longestPause bounds all pauses,
	// including the ones that Azure asks for.
	unknownPause = 5 * time.Second
	firstPause   = 250 * time.Millisecond
	longestPause = time.Minute
	// nextPause bounds the second pause, for one that waits longer than the others did.
	nextPause = 20 * time.Second
	// growth is by how much each pause is longer than the one before, at least; and each
	// is as long as this part of the time that the operation takes so far.
	growth, part = 1.2, 5
)

const (
	headerAsync    = "Azure-AsyncOperation"
	headerLocation = "Location"
)

// current is get before a write: it waits until operations of other writers on the resource
// have ended, since Azure accepts one write at a time.
func (s *Session) current(ctx context.Context, path, version string) (model.Object, error) {
	o, err := s.get(ctx, path, version)
	if err != nil || model.StateOf(o) != stack.Pending {
		return o, err
	}
	err = s.until(ctx, "state of "+typeOf(path), path, nil, func(ctx context.Context) (bool, http.Header, error) {
		var err error
		o, err = s.get(ctx, path, version)
		return model.StateOf(o) != stack.Pending, nil, err
	})
	return o, err
}

// await waits for the operation that a write began. Sources: Azure Resource
// Manager reference, asynchronous operations.
func (s *Session) await(ctx context.Context, method string, a answer, path, version string) error {
	kind, at := method+" "+typeOf(path), a.header.Get(headerAsync)
	switch {
	case at != "":
		return s.until(ctx, kind, path, a.header, func(ctx context.Context) (bool, http.Header, error) {
			now, err := s.send(ctx, request{method: http.MethodGet, path: at})
			if err != nil {
				return false, nil, err
			}
			return endOf(now, path)
		})
	case a.status == http.StatusAccepted && a.header.Get(headerLocation) != "":
		at = a.header.Get(headerLocation)
		return s.until(ctx, kind, path, a.header, func(ctx context.Context) (bool, http.Header, error) {
			now, err := s.send(ctx, request{method: http.MethodGet, path: at})
			return now.status != http.StatusAccepted, now.header, err
		})
	case model.StateOf(a.body) == stack.Pending:
		_, err := s.current(ctx, path, version)
		return err
	case model.StateOf(a.body) == stack.Failed:
		return &fault.Fault{Meaning: fault.Ambiguous, Text: model.LastSegment(path) + ": Azure accepted the change and could not do it"}
	}
	return nil
}

// endOf reads the state of an operation.
func endOf(now answer, path string) (bool, http.Header, error) {
	switch strings.ToLower(now.body.Text("status")) {
	case "succeeded":
		return true, nil, nil
	case "failed", "canceled":
		return true, nil, faultOfOperation(now.body.In("error"), model.LastSegment(path))
	}
	return false, now.header, nil
}

// until asks again and again until something of the kind has ended: first when it is
// likely to be over, and never sooner than Azure says.
func (s *Session) until(ctx context.Context, kind, path string, header http.Header, ask func(context.Context) (bool, http.Header, error)) error {
	began, questions := s.now(), 0
	said := retryAfter(header, began)
	g := s.pace.guess(ctx, kind)
	defer g.release()
	before := max(g.after, said)
	switch {
	case g.after > 0:
	case said > 0:
		before = max(said, unknownPause)
	default:
		before = firstPause
	}
	var ended error
	w := kit.Wait{
		Before: before - s.now().Sub(began), First: max(firstPause, min(g.again-before, nextPause)), Growth: growth,
		Longest: longestPause, Patience: s.patience, Now: s.now,
	}
	err := w.Until(ctx, model.LastSegment(path), func(ctx context.Context) (kit.State, error) {
		asked := s.now()
		done, next, err := ask(ctx)
		questions++
		if fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Throttled) {
			return kit.State{}, err // what became of the operation, the next question tells
		}
		if ended = err; done || err != nil {
			g.ended(began, asked, s.now(), questions)
			return kit.State{Done: true}, nil //nolint:nilerr // the wait has ended well; ended says what the operation came to
		}
		return kit.State{After: max(retryAfter(next, s.now()), pauseAfter(s.now().Sub(began), questions, g.again > 0))}, nil
	})
	if err != nil {
		return &kit.UnendedError{What: model.LastSegment(path), Again: lateDelay}
	}
	return ended
}

// pauseAfter is the pause after a question in vain about an operation of an age; 0 after
// the first one where it was early on purpose.
func pauseAfter(age time.Duration, questions int, early bool) time.Duration {
	switch {
	case questions == 1 && early:
		return 0
	case questions == 1:
		return min(age/part, nextPause)
	}
	return min(age/part, longestPause)
}

// retryAfter is how long an answer asks to wait: seconds, or a date; 0: it does not.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.Atoi(h.Get("X-Ms-Retry-After-Ms")); err == nil && ms >= 0 {
		return time.Duration(ms) * time.Millisecond
	}
	text := h.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
