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

// writes tell the changes that we make to Services from those of others, and keep
// what the API server has answered until the informer has it: a Service must never be
// handled as it was before our own last write.
type writes struct {
	mu  sync.Mutex
	all map[string]*written
}

// written is what is known of our writes to one Service.
type written struct {
	inFlight int             // writes that are not answered yet
	doubt    bool            // whether the last write took effect is not known
	seen     []string        // versions that came meanwhile: ours among them, perhaps
	version  string          // that our last write made
	answer   *corev1.Service // of our last write; nil: the informer has it
	others   int             // how often in a row somebody else wrote what is ours
	last     time.Time       // when it was the last time
	by       string          // who wrote the addresses; empty: it is not known
}

// A status that somebody else has changed is put right after a second at first, and
// less and less often while that goes on.
const (
	minContest   = time.Second
	maxContest   = 10 * time.Minute
	contestQuiet = 2 * maxContest // after which it is not the same contest any more
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

// begin says that a write is on its way.
func (w *writes) begin(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.get(key).inFlight++
}

// end takes the answer to a write, nil if it failed with err, and tells whether others
// have changed meanwhile what is ours.
func (w *writes) end(key string, answer *corev1.Service, err error) (others bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.get(key)
	one.inFlight--
	one.doubt = err != nil && !declined(err)
	if answer != nil {
		one.version, one.answer = answer.ResourceVersion, answer
	}
	for _, version := range one.seen {
		others = others || version != one.version
		if !older(version, one.version) {
			one.answer = nil // the informer was faster
		}
	}
	if one.inFlight == 0 {
		one.seen = nil
	}
	return others
}

// inDoubt tells whether nobody knows if the last write to a Service took effect: the
// informer may have it as it was before.
func (w *writes) inDoubt(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	one, ok := w.all[key]
	return ok && one.doubt
}

// declined tells whether the API server has said that it did not do what it was asked for.
// One that fails in the middle of it does not know.
func declined(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && answer.Status().Code >= http.StatusBadRequest && answer.Status().Code < http.StatusInternalServerError
}

// arrived says that the informer has a version, and tells whether it is one of our
// writes, or may be and will be told by end.
func (w *writes) arrived(key, version string) (ours bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one, ok := w.all[key]
	if !ok {
		return false
	}
	if one.answer != nil && !older(version, one.answer.ResourceVersion) {
		one.answer = nil
	}
	if one.inFlight > 0 {
		one.seen = append(one.seen, version)
		return true
	}
	return version == one.version
}

// newest returns the Service as the API server answered us last, if the informer's
// copy is older than that.
func (w *writes) newest(key string, cached *corev1.Service) *corev1.Service {
	w.mu.Lock()
	defer w.mu.Unlock()
	one, ok := w.all[key]
	if !ok || one.answer == nil || one.answer.UID != cached.UID || !older(cached.ResourceVersion, one.answer.ResourceVersion) {
		return cached
	}
	return one.answer
}

// contested notes that somebody else wrote what is ours, and says how long to leave
// it. by is who wrote the addresses; empty: nobody else did.
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

// rival is who writes other addresses than ours again and again; empty: nobody does.
func (w *writes) rival(key string, now time.Time) string {
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

// older tells whether a version comes before another one, as far as they can be
// compared.
func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
