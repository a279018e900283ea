package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// knownFault is a fault that there once was, and how it is brought back from outside.
type knownFault struct {
	name  string
	world func(*world) // how the world is another one; nil: as ever
	tales []Tale       // in which it shows; nil: the usual ones
	fresh func(testing.TB) Subject
}

// TestKnownFaults: each fault that was found between Services, views and leaders is found
// again, if it is brought back, with no more schedules of a tale than a plain run performs.
func TestKnownFaults(t *testing.T) {
	quay := listClouds()["quay"]
	for _, f := range knownFaults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			e := newExplorer(quay.fresh)
			if f.fresh != nil {
				e = newExplorer(f.fresh)
			}
			tales := f.tales
			if tales == nil {
				tales = Tales(quay.shape, quay.other)
			}
			performed := 0
			for _, faulty := range []bool{false, true} {
				if e.World = nil; faulty {
					e.World = f.world
				}
				found := Figures{}
				for _, tale := range tales {
					b := Budget{Schedules: mostUntilFound, Deviations: 4, Seed: 1, Failures: 1}
					if !faulty {
						b.Schedules = 20 // the tales are no fault by themselves
					}
					found = e.Search(t, tale, b)
					performed += found.Schedules
					if len(found.Failed) > 0 {
						break
					}
				}
				switch {
				case !faulty && len(found.Failed) > 0:
					t.Fatalf("it fails without the fault: %s", found.Failed[0].Report.Tell())
				case faulty && len(found.Failed) == 0:
					t.Errorf("not found in %d schedules", performed)
				case faulty:
					worst := found.Failed[0]
					t.Logf("found in schedule %d: %q, %s: %s", performed, worst.Tale, worst.Schedule, strings.SplitN(worst.Report.Faults[0], "\n", 2)[0])
				}
			}
		})
	}
}

// mostUntilFound is how many schedules of a tale are performed at most until a known
// fault is found.
const mostUntilFound = 2000

// knownFaults lists the faults that can be injected from outside; docs/testing.md names the
// others.
func knownFaults() []knownFault {
	return slices.Concat(faultsOfTheLoop(), faultsBesideOthers(), faultsOfRefusals())
}

// faultsOfTheLoop are those between Services, views and processes of Berth.
func faultsOfTheLoop() []knownFault {
	return []knownFault{
		{name: "a shared thing is left by two that go at once", tales: deletedTogether(), world: breakSession(func(w *world, b *providers.Bound) {
			apply := b.Apply
			b.Apply = func(ctx context.Context, batch plan.Batch) []plan.Outcome {
				batch.Claims = leaving{batch.Claims, w} // Services that are being deleted count
				return apply(ctx, batch)
			}
		})},
		{name: "a shared thing goes while a new Service counts on it", tales: renamedWithin(time.Millisecond), world: breakSession(func(_ *world, b *providers.Bound) {
			b.Apply = omitDeletions(b.Apply)
		})},
		{name: "a read that failed counts as nothing found", tales: deletedAtStart(), world: breakSession(func(w *world, b *providers.Bound) {
			w.noLateWait = true // else there is a second look
			read := b.Read
			b.Read = func(ctx context.Context, scopes []providers.Scope) []providers.Read {
				out := read(ctx, scopes)
				for i := range out {
					if out[i].Err != nil {
						out[i].Err, out[i].Have = nil, &stack.Stack{Owner: scopes[i].Owner}
					}
				}
				return out
			}
		})},
		{name: "a load balancer is made for an old copy of its Service", tales: usualTale("to and fro"), world: func(w *world) {
			w.patched = func(body []byte) []byte { return dropField(body, "resourceVersion") }
			w.answered = func(svc *corev1.Service, was string) { svc.ResourceVersion = was }
		}},
		{name: "a predecessor's creations are not waited for", fresh: withoutTokens, tales: shortLived(), world: func(w *world) { w.noLateWait = true }},
		{name: "a process whose Lease is over continues to write", world: func(w *world) { w.unfenced = true }},
		{name: "a release takes off what has changed since", tales: soonBack(), world: func(w *world) {
			w.patched = func(body []byte) []byte { return dropField(body, "resourceVersion") }
		}},
		{name: "a record outlives what it stands for", tales: soonBack(), world: func(w *world) { w.patched = keepRecord }},
		{name: "a call that was not answered counts as one that was not made", tales: soonBack(), world: breakSession(func(_ *world, b *providers.Bound) {
			b.Apply = loseAnswers(b.Apply)
		})},
		{name: "a Service's own status wakes it, and each refusal reads otherwise", world: func(w *world) {
			w.kube.stirs = true
		}, fresh: newRefusing, tales: []Tale{{"refused", []Move{Create("web", nil), Delete("web")}}}},
	}
}

// usualTale returns one of the usual tales.
func usualTale(name string) []Tale {
	c := listClouds()["quay"]
	return slices.DeleteFunc(Tales(c.shape, c.other), func(t Tale) bool { return t.Name != name })
}

// soonBack is the tale of a Service whose user takes another type back while what it had is
// still being removed.
func soonBack() []Tale {
	tales := usualTale("to and fro")
	tales[0].Name, tales[0].Moves[2].Later = "soon back", 500*time.Millisecond
	return tales
}

// shortLived is the tale of a Service that is deleted two seconds after its creation.
func shortLived() []Tale {
	end := Delete("web")
	end.Later = 2 * time.Second
	return []Tale{{"short-lived", []Move{Create("web", nil), end}}}
}

// deletedTogether is the tale of two Services that are deleted at once.
func deletedTogether() []Tale {
	second := Delete("api")
	second.Later = time.Millisecond
	return []Tale{{"deleted together", []Move{Create("web", nil), Create("api", nil), Settled(Delete("web")), second}}}
}

// deletedAtStart is the tale of a Service that is deleted while a process starts, which has
// to read what the Service has.
func deletedAtStart() []Tale {
	end := Delete("web")
	end.Later = time.Millisecond
	return []Tale{{"deleted at start", []Move{Create("web", nil), Settled(RestartProcess()), end}}}
}

// breakSession restores a fault in the session of each process.
func breakSession(with func(*world, *providers.Bound)) func(*world) {
	return func(w *world) {
		open := w.subject.Open
		w.subject.Open = func(ctx context.Context, url string) (providers.Bound, error) {
			b, err := open(ctx, url)
			if err == nil && !strings.Contains(url, "//judge") {
				with(w, &b)
			}
			return b, err
		}
	}
}

// renamedWithin returns a tale in which the second Service is created so long after the
// deletion of the first one has begun.
func renamedWithin(d time.Duration) []Tale {
	create := Create("web-2", nil)
	create.Later = d
	return []Tale{{"renamed within " + d.String(), []Move{Create("web", nil), Delete("web"), create, Settled(Delete("web-2"))}}}
}

// omitDeletions counts deletions of shared resources as over when they have only begun: their
// claims are checked then, and no record of the running deletion remains.
func omitDeletions(apply func(context.Context, plan.Batch) []plan.Outcome) func(context.Context, plan.Batch) []plan.Outcome {
	var ongoing sync.Map
	return func(ctx context.Context, batch plan.Batch) []plan.Outcome {
		step := batch.Steps[0]
		if step.ID.Action != plan.Delete || step.Target.Ownership != stack.Shared {
			return apply(ctx, batch)
		}
		if _, begun := ongoing.LoadOrStore(step.ID, true); !begun {
			go func() {
				defer ongoing.Delete(step.ID)
				apply(context.WithoutCancel(ctx), batch)
			}()
		}
		return []plan.Outcome{{Sent: plan.WasSent, Wait: time.Second}}
	}
}

// leaving counts Services that are being deleted as well.
type leaving struct {
	plan.Claims
	w *world
}

func (l leaving) Others(me stack.Owner, entry stack.Resource) []stack.Owner {
	out := l.Claims.Others(me, entry)
	for _, svc := range l.w.kube.all() {
		if svc.DeletionTimestamp != nil && string(svc.UID) != me.UID {
			out = append(out, stack.Owner{Namespace: svc.Namespace, Name: svc.Name, UID: string(svc.UID)})
		}
	}
	return out
}

// keepRecord returns a patch without the removal of the record of what was applied.
func keepRecord(body []byte) []byte {
	var patch struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
			Finalizers  []string          `json:"finalizers"`
		} `json:"metadata"`
	}
	err := json.Unmarshal(body, &patch)
	if applied := patch.Metadata.Annotations[status.AnnotationApplied]; err != nil || !strings.HasPrefix(applied, ";") || len(patch.Metadata.Finalizers) > 0 {
		return body
	}
	return dropField(body, "annotations")
}

// loseAnswers counts calls without a response as calls that were never sent.
func loseAnswers(apply func(context.Context, plan.Batch) []plan.Outcome) func(context.Context, plan.Batch) []plan.Outcome {
	return func(ctx context.Context, batch plan.Batch) []plan.Outcome {
		out := apply(ctx, batch)
		for i, o := range out {
			if o.Sent == plan.MaybeSent {
				out[i] = plan.Failed(fault.New(fault.Unavailable, "%v", o.Err))
			}
		}
		return out
	}
}

// dropField returns a patch without a field of the metadata.
func dropField(body []byte, field string) []byte {
	var patch map[string]map[string]any
	if json.Unmarshal(body, &patch) != nil {
		return body
	}
	delete(patch["metadata"], field)
	out, err := json.Marshal(patch)
	if err != nil {
		return body // it was made of JSON just now
	}
	return out
}

// withoutTokens is the small cloud when it ignores the tokens of creations: one that arrives late
// creates a load balancer, although the one of its token was deleted.
func withoutTokens(t testing.TB) Subject {
	s := onQuay(t)
	next := s.Handler
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Idempotency-Token")
		next.ServeHTTP(w, r)
	})
	return s
}

// newRefusing returns the small cloud with every creation refused, each with another text.
func newRefusing(t testing.TB) Subject {
	s := onQuay(t)
	next := s.Handler
	var refusals atomic.Int64
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, `{"code":"Denied","message":"request %x"}`, 1<<40+refusals.Add(1)*7919) // only the log receives it
	})
	return s
}
