package account

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// KeyCase is a key with a value that changes the account, and the annotations beside it, as
// pairs. Keys lack the prefix of the cloud.
type KeyCase = struct {
	Key, Value string
	With       []string
}

// EveryKey is the test that each declared key changes the account.
type EveryKey[O any] struct {
	// Options start an account whose clock stands still; see StillClock.
	Options O
	Cases   []KeyCase
	// Elsewhere are keys that change nothing of the account, with the test of their effect.
	Elsewhere map[string]string
	// Change completes a Service for its annotations; nil: it has two ports of TCP.
	Change func(annotations map[string]string, s *corev1.ServiceSpec)
	// Refused are keys whose only effect is that the Service is refused, with such a value.
	Refused []KeyCase
	// Slices returns the endpoints of a Service; nil: it has none.
	Slices func(svc *corev1.Service) []*discoveryv1.EndpointSlice
	// Objects has the objects that Services name.
	Objects map[providers.Reference]providers.Object
	// Kind limits the keys to the ones of a kind; empty: all keys.
	Kind string
}

// StillClock returns a clock that stands still, so that two accounts differ only in what was
// done in them.
func StillClock() clock.PassiveClock {
	return clocktesting.NewFakePassiveClock(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
}

// EveryKey fails unless each declared key under the prefix of the cloud has a case, and each
// case changes the account.
func (c Cloud[O, S]) EveryKey(t *testing.T, all EveryKey[O]) {
	tried := map[string]bool{}
	for _, k := range all.Cases {
		without := c.Keys(k.With...)
		with := mergeMaps(without, c.Keys(k.Key, k.Value))
		virtual.Run(t, k.Key, func(t *testing.T) {
			if c.stateWith(t, all, without) == c.stateWith(t, all, with) {
				t.Errorf("%s: %q changes nothing", k.Key, k.Value)
			}
		})
		tried[k.Key] = true
	}
	for _, k := range all.Refused {
		virtual.Run(t, "refused "+k.Key, func(t *testing.T) { c.refusesKey(t, all, k) })
		tried[k.Key] = true
	}
	for _, row := range annotations.Rows(c.Entry.Annotations) {
		name, ours := strings.CutPrefix(row.Key, c.Prefix)
		ours = ours && (all.Kind == "" || c.Entry.Annotations.Works(row.Key, all.Kind))
		if ours && row.On == annotations.ServiceAnnotation && row.Writer != annotations.ByController && row.Support == annotations.Works && !tried[name] && all.Elsewhere[name] == "" {
			t.Errorf("%s: no case", row.Key)
		}
	}
}

// stateWith returns the account with one Service that is served, unless it is left to another controller.
func (c Cloud[O, S]) stateWith(t *testing.T, all EveryKey[O], notes map[string]string) string {
	t.Helper()
	w, svc := c.beginWith(t, all, notes)
	if c.Entry.Choose(svc).Elsewhere == "" {
		w.Serve(svc)
	}
	return stateText(t, w)
}

// refusesKey fails unless a Service with a key is refused for it, and nothing is created.
func (c Cloud[O, S]) refusesKey(t *testing.T, all EveryKey[O], k KeyCase) {
	t.Helper()
	w, svc := c.beginWith(t, all, mergeMaps(c.Keys(k.With...), c.Keys(k.Key, k.Value)))
	before := stateText(t, w)
	res, err := w.Once(svc, false)
	if err != nil {
		t.Fatal(err)
	}
	named := slices.ContainsFunc(res.Draft.Problems, func(p annotations.Problem) bool {
		return p.Severity == annotations.Error && p.Key == c.Prefix+k.Key
	})
	if !named || stateText(t, w) != before {
		t.Errorf("%s: %q is not refused: %v", k.Key, k.Value, res.Draft.Problems)
	}
}

// beginWith starts an account with what the cases have in common, and returns the Service.
func (c Cloud[O, S]) beginWith(t *testing.T, all EveryKey[O], notes map[string]string) (*World[S], *corev1.Service) {
	t.Helper()
	w := c.Begin(t, all.Options)
	svc := c.complete(props.Service("web", maps.Clone(notes)).Service)
	if all.Change != nil {
		all.Change(notes, &svc.Spec)
	}
	w.Given = all.Objects
	if all.Slices != nil {
		w.Slices = all.Slices(svc)
	}
	return w, svc
}

func stateText[S Simulator](t *testing.T, w *World[S]) string {
	t.Helper()
	text, err := json.Marshal(w.Control().State())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// KeysAlone fails if a key without its companions is ignored silently. Values of the cases are
// tried too; the test completes Keys, Values and Effect where they are not set.
func (c Cloud[O, S]) KeysAlone(t *testing.T, opt O, list []KeyCase, alone cases.Alone) {
	virtual.Test(t, func(t *testing.T) {
		s := c.Subject(t, opt)
		process := props.Process(t, s.Open(t), s.Nodes())
		values := map[string][]string{}
		for _, k := range list {
			values[c.Prefix+k.Key] = slices.Clip(append(values[c.Prefix+k.Key], k.Value))
		}
		maps.Copy(values, alone.Values)
		alone.Keys, alone.Values = c.Entry.Annotations, values
		alone.Effect = func(t testing.TB, svc *corev1.Service) cases.Effect {
			d, err := process.Draft(t.Context(), reconcile.Job{Service: svc})
			if err != nil {
				t.Fatal(err)
			}
			return cases.Effect{Want: d.Want, Problems: d.Problems}
		}
		alone.Run(t)
	})
}
