package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// answers holds the other users of each resource, as requested before a call was sent.
type answers map[stack.Key][]stack.Owner

func (a answers) Others(_ stack.Owner, entry stack.Resource) []stack.Owner { return a[entry.Key] }

func (a answers) Older(stack.Owner, stack.Resource) (stack.Owner, bool) { return stack.Owner{}, false }

func (a answers) Find(func(stack.Owner) bool) (stack.Owner, bool) { return stack.Owner{}, false }

// startLingering starts a process on a cloud whose reads and writes take their time, and
// whose deletions come to pass at the end of it.
func startLingering(w *world, takes time.Duration) *process {
	w.refusesTaken = true
	bound := providers.Bind(toyCloud(), "", "cluster", w)
	bound.ScopeForCreate = func(r providers.Request) (providers.Scope, error) { return providers.Scope{Owner: r.Owner}, nil }
	read, apply := bound.Read, bound.Apply
	bound.Read = func(ctx context.Context, scopes []providers.Scope) []providers.Read {
		found := read(ctx, scopes)
		time.Sleep(takes / 2)
		return found
	}
	bound.Apply = func(ctx context.Context, b plan.Batch) []plan.Outcome {
		asked := answers{}
		for _, s := range b.Steps {
			asked[s.Target.Key] = b.Claims.Others(s.ID.Owner, s.Target)
		}
		b.Claims = asked
		time.Sleep(takes)
		return apply(ctx, b)
	}
	p := &process{Reconciler: reconcile.New(bound, reconcile.Options{Now: time.Now}), w: w}
	p.SetNodes(twoNodes())
	p.AllKnown()
	return p
}

// TestRename: the last user of a shared resource is deleted while another one is created.
// Whatever the order, the shared resource exists when both are done.
func TestRename(t *testing.T) {
	const takes = time.Second
	for name, job := range map[string]func(*corev1.Service) reconcile.Job{"new": asNew, "read": jobFor} {
		for offset := time.Duration(0); offset < 8*takes; offset += takes / 4 {
			t.Run(fmt.Sprint(name, " after ", offset), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld()
					p := startLingering(w, takes)
					p.settle(t, asNew(newShop("old", one)))
					var both sync.WaitGroup
					both.Go(func() { p.settle(t, releaseJob(newShop("old", one))) })
					time.Sleep(offset)
					both.Go(func() { p.settle(t, job(newShop("renamed", one))) })
					both.Wait()
					checkEqual(t, []string{
						"renamed lb public", "renamed listener 80 to 30080", "renamed pool 30080 [n1 n2]", "rule health", "rule node port 30080",
					}, w.show(t))
					res, err := p.once(jobFor(newShop("renamed", one)))
					checkEqual(t, true, err == nil && res.Clean && slices.Contains(w.show(t), "rule health"))
				})
			})
		}
	}
}

// TestSharedReplacementIsNotPolled: what cannot be changed in place while others use it
// waits for them, but not by the second.
func TestSharedReplacementIsNotPolled(t *testing.T) {
	w := newWorld()
	cloud := toyCloud()
	shared := cloud.Rules.Kinds[kindRule]
	shared.Immutable = []string{"Allow"}
	cloud.Rules.Kinds[kindRule] = shared
	cloud.Build = func(in providers.Input[string], facts struct{}, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
		out, problems, err := buildToy(in, facts, have)
		if schemeAnnotation.Get(in.Values) == "internal" {
			health := ruleOf("health")
			health.Spec = rule{Allow: "health of another sort"}
			out.Put(health)
		}
		return out, problems, err
	}
	p := startIn(cloud, w, testclock.NewFakeClock(time.Unix(1e9, 0)))
	p.AllKnown()
	p.settle(t, jobFor(newShop("a", one)))
	p.settle(t, jobFor(newShop("b", map[int32]int32{80: 30081})))
	res, err := p.once(jobFor(newShop("a", one, "scheme=internal")))
	if err != nil || len(res.Draft.Plan.Blocked) == 0 {
		t.Fatalf("error %v, plan %v", err, res.Draft.Plan)
	}
	if !res.Waits || res.Wait < time.Minute {
		t.Errorf("looked at again in %v (%v)", res.Wait, res.Waits)
	}
}
