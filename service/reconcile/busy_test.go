package reconcile_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/service/reconcile"
)

// callTime is how long the slow cloud takes for a call.
const callTime = 60 * time.Millisecond

// startSlow starts a process on a cloud that takes its time for every Service that is
// read with all its parts, and has facts in memory.
func startSlow(w *world) *process {
	bound := providers.Bind(toyCloud(), "", "cluster", w)
	read := bound.Read
	bound.Read = func(ctx context.Context, scopes []providers.Scope) []providers.Read {
		for _, s := range scopes {
			if len(s.Own) > 0 {
				time.Sleep(callTime)
			}
		}
		return read(ctx, scopes)
	}
	p := &process{Reconciler: reconcile.New(bound, reconcile.Options{Now: time.Now}), w: w}
	p.SetNodes(twoNodes())
	p.AllKnown()
	return p
}

// TestUserBesideDeepReads: a user's change is planned as soon beside the deep reads of
// 150 other Services as alone, whether or not it needs a read of its own.
func TestUserBesideDeepReads(t *testing.T) {
	const others, most = 150, 300 * time.Millisecond
	changed := newShop("mine", map[int32]int32{80: 30080, 443: 30443})
	for name, before := range map[string]*corev1.Service{"known": newShop("mine", one), "new": nil} {
		t.Run(name, func(t *testing.T) {
			planned := func(beside int) (took time.Duration) {
				synctest.Test(t, func(t *testing.T) {
					p := startSlow(newWorld())
					if before != nil {
						p.settle(t, jobFor(before))
					}
					var all sync.WaitGroup
					for i := range beside {
						ctx := kit.WithTurn(t.Context(), kit.Turn{Urgency: kit.Nodes, Since: time.Now()})
						all.Go(func() {
							if _, err := p.Draft(ctx, jobFor(newShop(fmt.Sprint("other-", i), one))); err != nil {
								t.Error(err)
							}
						})
					}
					time.Sleep(2 * callTime) // they are being read
					began := time.Now()
					ctx := kit.WithTurn(t.Context(), kit.Turn{Urgency: kit.User, Since: began})
					if d, err := p.Draft(ctx, jobFor(changed)); err != nil || d.Plan.Empty() {
						t.Errorf("plan %v, error %v", d.Plan, err)
					}
					took = time.Since(began)
					all.Wait()
				})
				return took
			}
			if alone, beside := planned(0), planned(others); beside > alone+most {
				t.Errorf("planned in %s beside %d others, in %s alone", beside, others, alone)
			}
		})
	}
}
