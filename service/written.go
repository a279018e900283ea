package service

import (
	"errors"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// writes distinguish our changes of Services from those of others, and keep the answers
// of the API server until the informer has them: a Service must never be reconciled in a
// version from before our own last write.
type writes struct {
	mu  sync.Mutex
	all map[string]*written
}

// written is the state of our writes to one Service.
type written struct {
	inFlight int             // writes without an answer yet
	doubt    bool            // the effect of the last write is unknown
	seen     []string        // versions that arrived meanwhile, perhaps including ours
	version  string          // of our last write
	answer   *corev1.Service // of our last write; nil: the informer has it
	others   int             // consecutive writes of our fields by others
	last     time.Time       // time of the last one
	by       string          // writer of the addresses; empty: unknown
}

// A status that another client has changed is corrected after a second at first, and
// less often while that continues.
const (
	minContest   = time.Second
	maxContest   = 10 * time.Minute
	contestQuiet = 2 * maxContest // after which a conflict counts as a new one
)

func newWrites() *writes { return &writes{all: map[string]*written{}} }

func (w *writes) get(key string) *written {
	one, ok := w.all[key]
	if !ok {
		one = &written{}
		w.all[key] = one
	}
	return one
}

// begin records that a write is sent.
func (w *writes) begin(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.get(key).inFlight++
}

// end records the answer to a write, nil if it failed with err, and reports whether
// others have changed our fields meanwhile.
func (w *writes) end(key string, answer *corev1.Service, err error) (others bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.get(key)
	one.inFlight--
	one.doubt = err != nil && !isDeclined(err)
	if answer != nil {
		one.version, one.answer = answer.ResourceVersion, answer
	}
	for _, version := range one.seen {
		others = others || version != one.version
		if !isOlderVersion(version, one.version) {
			one.answer = nil // the informer was faster
		}
	}
	if one.inFlight == 0 {
		one.seen = nil
	}
	return others
}

// inDoubt reports whether the effect of the last write to a Service is unknown: the
// informer may have an earlier version.
func (w *writes) inDoubt(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	one, ok := w.all[key]
	return ok && one.doubt
}

// isDeclined reports whether the API server has definitely not performed a request.
// After an internal failure the effect is unknown.
func isDeclined(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && answer.Status().Code >= http.StatusBadRequest && answer.Status().Code < http.StatusInternalServerError
}

// arrived records that the informer has a version, and reports whether it is one of our
// writes, or may be one, which end then decides.
func (w *writes) arrived(key, version string) (ours bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one, ok := w.all[key]
	if !ok {
		return false
	}
	if one.answer != nil && !isOlderVersion(version, one.answer.ResourceVersion) {
		one.answer = nil
	}
	if one.inFlight > 0 {
		one.seen = append(one.seen, version)
		return true
	}
	return version == one.version
}

// newest returns the last answer of the API server to us, if the informer's copy is
// older.
func (w *writes) newest(key string, cached *corev1.Service) *corev1.Service {
	w.mu.Lock()
	defer w.mu.Unlock()
	one, ok := w.all[key]
	if !ok || one.answer == nil || one.answer.UID != cached.UID || !isOlderVersion(cached.ResourceVersion, one.answer.ResourceVersion) {
		return cached
	}
	return one.answer
}

// contested records that another client wrote our fields, and returns the pause before
// the correction. by is the writer of the addresses; empty: none.
func (w *writes) contested(key, by string, now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.get(key)
	if now.Sub(one.last) > contestQuiet {
		one.others = 0
	}
	wait := min(minContest<<min(one.others, 16), maxContest)
	one.others, one.last, one.by = one.others+1, now, by
	return wait
}

// conflictingWriter returns the client that repeatedly writes other addresses; empty: none.
func (w *writes) conflictingWriter(key string, now time.Time) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	one, ok := w.all[key]
	if !ok || one.others < 2 || now.Sub(one.last) > contestQuiet {
		return ""
	}
	return one.by
}

func (w *writes) drop(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one, ok := w.all[key]; ok && one.inFlight == 0 {
		delete(w.all, key)
	}
}

// isOlderVersion reports whether a version precedes another one, if they are
// comparable.
func isOlderVersion(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
