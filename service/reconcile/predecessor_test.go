package reconcile

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestMayBeReleased: only while calls of a previous process may take effect, and only a Service that
// is older than this one may have been released by it.
func TestMayBeReleased(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		lateness time.Duration
		created  time.Duration
		now      time.Duration
		want     bool
	}{
		"older, at once":           {LeaderLateness, -time.Hour, time.Second, true},
		"older, later":             {LeaderLateness, -time.Hour, LeaderLateness, false},
		"created since":            {LeaderLateness, time.Second, 2 * time.Second, false},
		"without a leader before":  {0, -time.Hour, time.Second, false},
		"created with the process": {LeaderLateness, 0, time.Second, false},
	} {
		r := &Reconciler{started: start, options: Options{Lateness: c.lateness, Now: func() time.Time { return start.Add(c.now) }}}
		svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(start.Add(c.created))}}
		if got := r.MayBeReleased(svc); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
