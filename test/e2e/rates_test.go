package e2e

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/status"
)

// rates is under the rates that the cloud documents, with operations that take their time:
// all are served, and waiting for a rate is no reason to warn.
func (p *place) rates(t *testing.T) {
	w := p.start(t, 3, p.slow...)
	before := w.dump()
	w.controller()
	fleet := w.many(max(len(p.kinds), p.slowly))
	w.must(w.Create(t.Context(), fleet...))
	w.programmed(fleet...)
	w.oncePerService(before, fleet)
	w.unwarned(fleet)
	w.remove(fleet...)
	w.nothingLeft(before)
}

// unwarned tells that no Service was said to have failed.
func (w *world) unwarned(fleet []corev1.Service) {
	w.t.Helper()
	for _, svc := range fleet {
		if warned := w.failures(svc.Name); len(warned) > 0 {
			w.t.Errorf("%s: a call that waits was told: %q", svc.Name, warned)
		}
	}
}

// failures are the warnings that a sync of the Service has failed; the API server warns
// as well, of its own affairs.
func (w *world) failures(name string) []string {
	return slices.DeleteFunc(w.warnings(name), func(e string) bool { return !strings.Contains(e, string(status.EventSyncFailed)) })
}
