package reconcile_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// beginUnread starts a process on a cloud that refuses names that are taken, so that
// new Services need not be read.
func beginUnread(w *world, change func(*providers.Bound)) *process {
	return begunAt(w, time.Now, change)
}

func begunAt(w *world, now func() time.Time, change func(*providers.Bound)) *process {
	w.refusesTaken = true
	bound := providers.Bind(toyCloud(), "", "cluster", w)
	bound.ScopeForCreate = func(r providers.Request) (providers.Scope, error) { return providers.Scope{Owner: r.Owner}, nil }
	if change != nil {
		change(&bound)
	}
	p := &process{Reconciler: reconcile.New(bound, reconcile.Options{Now: now}), w: w}
	p.SetNodes(twoNodes())
	p.AllKnown()
	return p
}

func asNew(svc *corev1.Service) reconcile.Job {
	return reconcile.Job{Service: svc, NeverProvisioned: true}
}

// TestFreshIsNotRead: the resources of a new Service are created without a read of what it
// might own, and are remembered from then on.
func TestFreshIsNotRead(t *testing.T) {
	w := newWorld()
	p := beginUnread(w, nil)
	svc := newShop("a", map[int32]int32{80: 30080})
	if res, err := p.once(asNew(svc)); err != nil || !res.Clean {
		t.Fatal(err, res.Err)
	}
	if _, err := p.once(jobFor(svc)); err != nil {
		t.Fatal(err)
	}
	checkEqual(t, cost{}, cost{Deep: w.deep, Narrow: w.narrow})
	p.settle(t, releaseJob(svc))
	checkEqual(t, []string{}, w.show(t))
}

// TestFreshIsRefuted: where a resource of the Service exists already, one run without
// an error gives the same result as a run that had read it.
func TestFreshIsRefuted(t *testing.T) {
	before, after := newShop("a", map[int32]int32{80: 30080, 443: 30443}), newShop("a", map[int32]int32{80: 30080, 8443: 30444})
	plain := newWorld()
	plain.refusesTaken = true
	startKnown(plain).settle(t, jobFor(after))
	for k := 1; k <= 12; k++ {
		w := newWorld()
		w.refusesTaken = true
		w.crashAt, w.commit = k, true
		_, _ = startKnown(w).once(jobFor(before)) // it dies
		w.crashAt = 0
		p := beginUnread(w, nil)
		res, err := p.once(asNew(after))
		// By the last call the load balancer existed.
		if err != nil || res.Err != nil || res.Draft.Job.NeverProvisioned && k == 12 {
			t.Errorf("call %d: errors %v and %v, assumed to the end %v", k, err, res.Err, res.Draft.Job.NeverProvisioned)
		}
		p.settle(t, jobFor(after))
		startKnown(w).settle(t, jobFor(after)) // rules of deleted resources carry no mark
		if d := cmp.Diff(plain.show(t), w.show(t)); d != "" {
			t.Errorf("call %d (-want +got):\n%s", k, d)
		}
	}
}

// TestFreshLooksBeforeItTakes: kinds whose creation would not be refused are never
// created without a read, and no step is blocked by a resource that was not read.
func TestFreshLooksBeforeItTakes(t *testing.T) {
	returned := func(b *providers.Bound) {
		rules := b.Rules
		b.Rules.Kinds = map[stack.Kind]diff.Rule{}
		for k, r := range rules.Kinds {
			b.Rules.Kinds[k] = r
		}
		lb := rules.Kinds[kindLB]
		lb.Clash = diff.Returned
		b.Rules.Kinds[kindLB] = lb
	}
	w := newWorld()
	if res, err := beginUnread(w, returned).once(asNew(newShop("a", one))); err != nil || !res.Clean {
		t.Fatal(err, res.Err)
	}
	checkEqual(t, 1, w.deep)

	w = newWorld()
	w.refusesTaken = true
	bound := providers.Bind(toyCloud(), "", "cluster", w)
	bound.ScopeForCreate = func(r providers.Request) (providers.Scope, error) { return providers.Scope{Owner: r.Owner}, nil }
	dry := &process{Reconciler: reconcile.New(bound, reconcile.Options{Policies: []plan.StepFilter{plan.DryRun}}), w: w}
	dry.SetNodes(twoNodes())
	if _, err := dry.once(asNew(newShop("a", one))); err != nil {
		t.Fatal(err)
	}
	checkEqual(t, 1, w.deep)
}

// TestReleaseOfWhatMayHaveMore: the read that ends a release covers only kinds that the
// Service had, unless the Service is older than the process and no read has shown what a
// previous process may have created.
func TestReleaseOfWhatMayHaveMore(t *testing.T) {
	now := time.Now()
	for name, tt := range map[string]struct {
		created  time.Time
		job      func(*corev1.Service) reconcile.Job
		after    time.Duration // from the beginning of the process
		narrowly bool
	}{
		"made while the process runs":       {now.Add(time.Hour), asNew, 0, true},
		"older, without marks":              {now.Add(-time.Hour), asNew, time.Hour, false},
		"older, read as the process begins": {now.Add(-time.Hour), jobFor, time.Second, false},
		"older, read later":                 {now.Add(-time.Hour), jobFor, 3 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			var last providers.Scope
			clock := now
			p := begunAt(w, func() time.Time { return clock }, func(b *providers.Bound) {
				read := b.Read
				b.Read = func(ctx context.Context, scopes []providers.Scope) []providers.Read {
					last = scopes[len(scopes)-1]
					return read(ctx, scopes)
				}
			})
			svc := newShop("a", one)
			svc.CreationTimestamp = metav1.NewTime(tt.created)
			clock = now.Add(tt.after)
			p.settle(t, tt.job(svc))
			p.settle(t, jobFor(svc)) // observations are kept over runs
			p.settle(t, releaseJob(svc))
			checkEqual(t, []string{}, w.show(t))
			if narrowly := len(last.Only) > 0; narrowly != tt.narrowly {
				t.Errorf("the last read was for %v", last.Only)
			}
		})
	}
}

// TestFreshIsBelievedOnce: what was worked on in this process is not new, whatever
// the Service says.
func TestFreshIsBelievedOnce(t *testing.T) {
	w := newWorld()
	p := beginUnread(w, nil)
	svc := newShop("a", one)
	p.settle(t, jobFor(svc))
	p.Distrust(reconcile.OwnerOf(svc))
	checkEqual(t, cost{Deep: 1}, p.cost(func() {
		if _, err := p.once(asNew(svc)); err != nil {
			t.Fatal(err)
		}
	}))
}

// TestReleaseInherits: what was left to another Service that has let it go since is
// looked for again, because that one could not remove what was still in use.
func TestReleaseInherits(t *testing.T) {
	var last providers.Scope
	p := beginUnread(newWorld(), func(b *providers.Bound) {
		read := b.Read
		b.Read = func(ctx context.Context, scopes []providers.Scope) []providers.Read {
			last = scopes[len(scopes)-1]
			return read(ctx, scopes)
		}
	})
	first, second := newShop("a", one), newShop("b", map[int32]int32{81: 30081})
	first.CreationTimestamp, second.CreationTimestamp = metav1.NewTime(time.Now().Add(time.Hour)), metav1.NewTime(time.Now().Add(time.Hour))
	p.settle(t, asNew(first))
	p.settle(t, asNew(second))
	draft, err := p.Draft(t.Context(), releaseJob(first))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Draft(t.Context(), releaseJob(second)); err != nil {
		t.Fatal(err)
	}
	if res := p.Run(t.Context(), draft, nil); res.Err != nil {
		t.Fatal(res.Err)
	}
	if len(last.Only) > 0 {
		t.Errorf("the last read was for %v alone, though the shared rule was left to a Service that is going too", last.Only)
	}
}

// TestFreshIsRefutedByAbsence: a new Service whose creation refers to a shared resource that
// does not exist any more is read and planned again in the same run.
func TestFreshIsRefutedByAbsence(t *testing.T) {
	w := newWorld()
	p := beginUnread(w, nil)
	refused := false
	w.refuse = func(s plan.Step) *plan.Outcome {
		if refused || s.ID.Action != plan.Create || s.ID.Key.Kind != kindListener {
			return nil
		}
		refused = true
		o := plan.Failed(fault.New(fault.NotFound, "the pool"))
		return &o
	}
	res, err := p.once(asNew(newShop("a", one)))
	if err != nil || res.Err != nil || !res.Clean || res.Draft.Job.NeverProvisioned {
		t.Errorf("errors %v and %v, clean %v, assumed to the end %v", err, res.Err, res.Clean, res.Draft.Job.NeverProvisioned)
	}
	checkEqual(t, 1, w.deep)
}

// separateRule has the rule for health checks be part of nothing, as what a whole cluster shares.
func separateRule(b *providers.Bound) {
	stand := func(s *stack.Stack) {
		if s == nil {
			return
		}
		for i, res := range s.Resources {
			if res.Key.Name == "health" {
				s.Resources[i].In = stack.Key{}
			}
		}
	}
	build, read := b.Build, b.Read
	b.Build = func(in providers.Request, f providers.Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
		out, problems, err := build(in, f, have)
		stand(out)
		return out, problems, err
	}
	b.Read = func(ctx context.Context, scopes []providers.Scope) []providers.Read {
		out := read(ctx, scopes)
		for _, found := range out {
			stand(found.Have)
		}
		return out
	}
}

// TestRemovedDuringARead: a shared resource that is deleted while a read is on its way is not
// remembered by what that read shows.
func TestRemovedDuringARead(t *testing.T) {
	w := newWorld()
	previous := startKnown(w)
	previous.settle(t, jobFor(newShop("a", one)))
	previous.settle(t, jobFor(newShop("b", map[int32]int32{81: 30081})))
	p := beginUnread(w, separateRule)
	p.settle(t, jobFor(newShop("a", one)))
	w.slow = func() {
		w.slow = nil
		p.settle(t, releaseJob(newShop("a", one)))
	}
	if _, err := p.Draft(t.Context(), releaseJob(newShop("b", map[int32]int32{81: 30081}))); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(w.show(t), "rule health") {
		t.Fatal("it was not deleted")
	}
	if _, err := p.once(asNew(newShop("c", map[int32]int32{82: 30082}))); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(w.show(t), "rule health") {
		t.Error("a new Service relies on a resource that was deleted")
	}
}

// TestUnreadyIsNotRemembered: a shared resource that the cloud is still creating is not
// remembered for new Services, which have to wait for it as well.
func TestUnreadyIsNotRemembered(t *testing.T) {
	w := newWorld()
	previous := startKnown(w)
	previous.settle(t, jobFor(newShop("a", one)))
	p := beginUnread(w, func(b *providers.Bound) {
		separateRule(b)
		read := b.Read
		b.Read = func(ctx context.Context, scopes []providers.Scope) []providers.Read {
			out := read(ctx, scopes)
			for _, found := range out {
				if found.Have == nil {
					continue
				}
				for i, res := range found.Have.Resources {
					if res.Key.Name == "health" {
						found.Have.Resources[i].State = stack.Pending
					}
				}
			}
			return out
		}
	})
	if _, err := p.Draft(t.Context(), jobFor(newShop("a", one))); err != nil {
		t.Fatal(err)
	}
	d, err := p.Draft(t.Context(), asNew(newShop("c", map[int32]int32{82: 30082})))
	if err != nil {
		t.Fatal(err)
	}
	if _, known := d.Have.Get(stack.Key{Kind: kindRule, Name: "health"}); known {
		t.Error("it counts as existing")
	}
}

// TestRemovedBeforeTheRunEnds: a shared resource counts as deleted as soon as the call is made,
// also while other steps of the run are under way.
func TestRemovedBeforeTheRunEnds(t *testing.T) {
	w := newWorld()
	var p *process
	var meanwhile *reconcile.Draft
	p = beginUnread(w, func(b *providers.Bound) {
		separateRule(b)
		apply := b.Apply
		b.Apply = func(ctx context.Context, batch plan.Batch) []plan.Outcome {
			if id := batch.Steps[0].ID; id.Action == plan.Delete && id.Key.Kind == kindLB {
				meanwhile, _ = p.Draft(ctx, asNew(newShop("b", map[int32]int32{81: 30081}))) // nothing refuses it
			}
			return apply(ctx, batch)
		}
	})
	p.settle(t, asNew(newShop("a", one)))
	p.settle(t, releaseJob(newShop("a", one)))
	if meanwhile == nil {
		t.Fatal("nothing was planned meanwhile")
	}
	if _, known := meanwhile.Have.Get(stack.Key{Kind: kindRule, Name: "health"}); known {
		t.Error("a new Service relies on a resource that was deleted")
	}
}
