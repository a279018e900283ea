package account

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Origins tests explanations of Services that a process plans and does not run, and collects the keys that they name.
type Origins struct {
	seen map[string]bool // keys that are the origin of a value, or without which a Service is refused
}

// Explain tests the explanation of what a process plans for a Service. A Service that is refused, or left alone, has none.
func (o *Origins) Explain(t testing.TB, process *reconcile.Reconciler, job reconcile.Job) {
	t.Helper()
	draft, err := process.Draft(t.Context(), job)
	if err != nil {
		t.Fatalf("%v: %v", job.Service.Annotations, err)
	}
	if draft.Want == nil || draft.Problems.Errors() {
		t.Errorf("%v: nothing to explain: %v", job.Service.Annotations, draft.Problems)
		return
	}
	build := func(svc *corev1.Service) (*stack.Stack, annotations.Problems, error) {
		return process.Rebuild(draft, reconcile.Variation{Service: svc})
	}
	found := cases.Explained{Name: annotationText(job.Service), Service: job.Service, Want: draft.Want, Build: build}.Run(t)
	if o.seen == nil {
		o.seen = map[string]bool{}
	}
	for _, r := range found.Required {
		o.seen[r.Key] = true
	}
	for _, res := range found.Resources {
		causes := slices.Concat(res.Causes, res.Named)
		for _, f := range res.Fields {
			causes = append(causes, f.Causes...)
		}
		for _, c := range causes {
			o.seen[c.Key] = true
		}
	}
}

// Names fails unless each of the keys is an origin in an explanation, or has a reason to be none. A key with a
// reason that is one fails as well.
func (o *Origins) Names(t testing.TB, keys []string, except map[string]string) {
	t.Helper()
	for _, key := range keys {
		switch {
		case !o.seen[key] && except[key] == "":
			t.Errorf("%s is the origin of nothing in any explanation", key)
		case o.seen[key] && except[key] != "":
			t.Errorf("%s is an origin, and has the exception %q", key, except[key])
		}
	}
}

func annotationText(svc *corev1.Service) string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(svc.Annotations)) {
		keys = append(keys, key+"="+svc.Annotations[key])
	}
	return strings.Join(keys, ", ")
}

// Explained tests the explanations of the Services of all cases. Each key of a case is an origin in one of them; the keys of
// the exceptions change something else than the desired resources.
func (c Cloud[O, S]) Explained(t *testing.T, all EveryKey[O], except map[string]string) {
	virtual.Test(t, func(t *testing.T) {
		w := c.Begin(t, all.Options)
		var origins Origins
		var keys []string
		for _, k := range all.Cases {
			notes := mergeMaps(c.Keys(k.With...), c.Keys(k.Key, k.Value))
			svc := c.complete(props.Service("web", notes).Service)
			if all.Change != nil {
				all.Change(notes, &svc.Spec)
			}
			job := reconcile.Job{Service: svc, Objects: all.Objects}
			if all.Slices != nil {
				job.Slices = all.Slices(svc)
			}
			if c.Entry.Choose(svc).Elsewhere == "" {
				origins.Explain(t, w.Process, job)
				keys = append(keys, c.Prefix+k.Key)
			}
		}
		named := map[string]string{}
		for key, why := range except {
			named[c.Prefix+key] = why
		}
		slices.Sort(keys)
		origins.Names(t, slices.Compact(keys), named)
	})
}
