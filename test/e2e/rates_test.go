package e2e

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/status"
)

// TestDocumentedRates makes load balancers of both kinds on AWS under the rates that it
// documents, with states that last as they do there: all are served, and waiting for a
// rate is no reason to warn.
func TestDocumentedRates(t *testing.T) {
	w := start(t, 3, "--throttle", "--provisioning-delay=3s", "--healthy-delay=2s", "--draining-delay=2s", "--release-delay=3s", "--group-release-delay=2s", "--new-group-delay=500ms")
	before := w.state()
	w.controller()
	fleet := w.fleet(8)
	w.must(w.Create(t.Context(), fleet...))
	w.programmed(fleet...)
	w.unwarned(fleet)
	w.remove(fleet...)
	w.asBefore(before)
}

// rates is the same on other clouds: in the order in which Services come and go nothing
// depends on how long an operation takes, or on how soon the cloud takes the next call.
func (p *place) rates(t *testing.T) {
	slow := map[string][]string{
		"gce":   {"--throttle", "--operation-delay=3s", "--operation-spread=2s"},
		"azure": {"--throttle", "--write-latency=2s", "--whole-seconds"},
	}[p.cloud]
	limited := *p
	limited.sim = slices.Concat(p.sim, slow)
	w := limited.start(t, 3)
	before := w.dump()
	w.controller()
	fleet := w.many(len(p.kinds))
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
