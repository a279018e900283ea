package reconcile

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
)

// readings notes how many Services each batch had; a read takes the time.
type readings struct {
	takes time.Duration

	mu    sync.Mutex
	sizes []int
}

func (r *readings) read(_ context.Context, scopes []providers.Scope) []providers.Read {
	r.mu.Lock()
	r.sizes = append(r.sizes, len(scopes))
	r.mu.Unlock()
	time.Sleep(r.takes)
	out := make([]providers.Read, len(scopes))
	for i, s := range scopes {
		out[i].Have = &stack.Stack{Owner: s.Owner}
	}
	return out
}

// readInTurn reads for n Services one after the other, and checks that each
// gets its own answer.
func readInTurn(t *testing.T, r *reader, n int, apart time.Duration, scope providers.Scope) {
	t.Helper()
	var all sync.WaitGroup
	for i := range n {
		scope := scope
		scope.Owner.Name = fmt.Sprint("web-", i)
		all.Go(func() {
			if got := r.Read(t.Context(), scope); got.Err != nil || got.Have.Owner != scope.Owner {
				t.Errorf("%s: got %+v", scope.Owner.Name, got)
			}
		})
		time.Sleep(apart)
	}
	all.Wait()
}

// TestReaderBatches: Services that arrive shortly after each other share a read. A stream
// of them does not delay the first one for long, and the number of Services that are read
// with all parts together is limited.
func TestReaderBatches(t *testing.T) {
	deep := providers.Scope{Depth: providers.Deep, Own: []providers.Lookup{{Kind: "lb"}}}
	shallow := providers.Scope{Depth: providers.Shallow, Own: deep.Own}
	facts := providers.Scope{Depth: providers.Deep}
	some := providers.Scope{Depth: providers.Deep, Own: deep.Own, Only: []stack.Kind{"members"}}
	for _, tc := range []struct {
		name  string
		each  bool
		n     int
		apart time.Duration
		takes time.Duration
		scope providers.Scope
		want  []int // the largest first
	}{
		{"one", false, 1, 0, time.Second, deep, []int{1}},
		{"together", false, 20, 0, time.Second, deep, []int{20}},
		{"shortly after each other", false, 20, 10 * time.Millisecond, time.Second, deep, []int{20}},
		{"one by one", false, 3, 100 * time.Millisecond, time.Millisecond, deep, []int{1, 1, 1}},
		{"while the lane is full", false, 8, 100 * time.Millisecond, time.Second, deep, []int{4, 1, 1, 1, 1}},
		{"while the lane is full of slow ones", false, 8, 300 * time.Millisecond, time.Hour, deep, []int{3, 1, 1, 1, 1, 1}},
		{"a stream", false, 100, 9 * time.Millisecond, time.Second, deep, []int{32, 32, 24, 12}},
		{"more than fit", false, 2*deepest + 1, 0, time.Second, deep, []int{deepest, deepest, 1}},
		{"many that are only looked at", false, 2*deepest + 1, 0, time.Second, shallow, []int{2*deepest + 1}},
		{"many that need facts", false, 2*deepest + 1, 0, time.Second, facts, []int{2*deepest + 1}},
		{"facts while others are fetched", false, 6, 100 * time.Millisecond, time.Hour, facts, []int{1, 1, 1, 1, 1, 1}},
		{"some kinds, from lists", false, 4*deepest + 1, 0, time.Second, some, []int{4 * deepest, 1}},
		{"some kinds, by calls for each", true, deepest + 1, 0, time.Second, some, []int{deepest / 2, deepest / 2, 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := &readings{takes: tc.takes}
				r := newReader(got.read, 0, engine.Background)
				r.each = tc.each
				readInTurn(t, r, tc.n, tc.apart, tc.scope)
				slices.SortFunc(got.sizes, func(a, b int) int { return b - a }) // some begin at the same moment
				if diff := cmp.Diff(tc.want, got.sizes); diff != "" {
					t.Errorf("batches (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestReaderFinishesTheOldest: of more than fit into a batch, those go first whose
// work is the oldest, and the batch has their turn.
func TestReaderFinishesTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var mu sync.Mutex
		var oldest []time.Duration // of each batch
		r := newReader(func(ctx context.Context, scopes []providers.Scope) []providers.Read {
			mu.Lock()
			defer mu.Unlock()
			oldest = append(oldest, kit.TurnOf(ctx).Since.Sub(began))
			return make([]providers.Read, len(scopes))
		}, 0, engine.Background)
		var all sync.WaitGroup
		for i := range 2 * deepest {
			ctx := kit.WithTurn(t.Context(), kit.Turn{Urgency: kit.Nodes, Since: began.Add(time.Duration(2*deepest-i) * time.Second)})
			all.Go(func() { r.Read(ctx, providers.Scope{Own: []providers.Lookup{{Kind: "lb"}}}) })
		}
		all.Wait()
		slices.Sort(oldest)
		if diff := cmp.Diff([]time.Duration{time.Second, (deepest + 1) * time.Second}, oldest); diff != "" {
			t.Errorf("oldest of each batch (-want +got):\n%s", diff)
		}
	})
}

// TestReaderLanes: a read that hangs keeps neither more urgent reads waiting, nor
// those of equal urgency that need less, nor, before long, its own kind.
func TestReaderLanes(t *testing.T) {
	deep := providers.Scope{Depth: providers.Deep, Own: []providers.Lookup{{Kind: "lb"}}}
	shallow := providers.Scope{Depth: providers.Shallow, Own: deep.Own}
	synctest.Test(t, func(t *testing.T) {
		hanging, end := context.WithCancel(kit.WithTurn(t.Context(), kit.Turn{Urgency: kit.Nodes}))
		r := newReader(func(ctx context.Context, scopes []providers.Scope) []providers.Read {
			if scopes[0].Owner.Name == "hangs" {
				<-ctx.Done()
			}
			return make([]providers.Read, len(scopes))
		}, 0, engine.Background)
		var stuck sync.WaitGroup
		for range 2 * abreast {
			scope := deep
			scope.Owner.Name = "hangs"
			stuck.Go(func() { r.Read(hanging, scope) })
			time.Sleep(slow) // each a batch of its own
		}
		for _, tc := range []struct {
			name    string
			urgency kit.Urgency
			scope   providers.Scope
			within  time.Duration
		}{
			{"more urgent", kit.User, deep, 2 * gather},
			{"less urgent", kit.Background, deep, 2 * gather},
			{"a presence check", kit.Nodes, shallow, 2 * gather},
			{"facts", kit.Nodes, providers.Scope{}, 2 * gather},
			{"its own kind", kit.Nodes, deep, slow + 2*gather},
		} {
			began := time.Now()
			r.Read(kit.WithTurn(t.Context(), kit.Turn{Urgency: tc.urgency}), tc.scope)
			if took := time.Since(began); took > tc.within {
				t.Errorf("%s: the read took %s", tc.name, took)
			}
		}
		end()
		stuck.Wait()
	})
}

// TestReaderEndsWithItsAskers: a batch runs as long as one caller waits for it, however long
// it takes, and ends with the last caller.
func TestReaderEndsWithItsAskers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		r := newReader(func(ctx context.Context, scopes []providers.Scope) []providers.Read {
			<-ctx.Done()
			ended.Store(true)
			return make([]providers.Read, len(scopes))
		}, 0, engine.Background)
		var askers sync.WaitGroup
		var leave []context.CancelFunc
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			leave = append(leave, cancel)
			askers.Go(func() { r.Read(ctx, providers.Scope{}) })
		}
		time.Sleep(time.Hour)
		leave[0]()
		time.Sleep(time.Hour)
		if ended.Load() {
			t.Error("the read ended although one still waited")
		}
		leave[1]()
		askers.Wait()
		synctest.Wait()
		if !ended.Load() {
			t.Error("the read goes on although no caller waits")
		}
	})
}

// TestReaderHurries: an urgent read is not delayed by the collection of other reads.
func TestReaderHurries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := &readings{}
		r := newReader(got.read, time.Minute, engine.Background)
		began := time.Now()
		var late sync.WaitGroup
		late.Go(func() { r.ReadLate(t.Context(), providers.Scope{}) })
		synctest.Wait()
		r.Read(t.Context(), providers.Scope{})
		late.Wait()
		if took := time.Since(began); took > rounds*gather {
			t.Errorf("the read took %s", took)
		}
		if diff := cmp.Diff([]int{2}, got.sizes); diff != "" {
			t.Errorf("batches (-want +got):\n%s", diff)
		}
	})
}

// TestReaderGathersReleases: releases that end one after the other share a read, for some seconds at most. The read
// is sent when no more have ended.
func TestReaderGathersReleases(t *testing.T) {
	for _, c := range []struct {
		name    string
		n       int
		apart   time.Duration
		batches []int
		most    time.Duration // that any release waits
	}{
		{"one", 1, 0, []int{1}, time.Second},
		{"some", 8, 200 * time.Millisecond, []int{8}, 3 * time.Second},
		{"many", 50, 200 * time.Millisecond, []int{25, 25}, lateRounds * time.Second},
		{"far apart", 3, 3 * time.Second, []int{1, 1, 1}, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := &readings{}
				r := newReader(got.read, time.Second, engine.Background)
				var all sync.WaitGroup
				for range c.n {
					all.Go(func() {
						began := time.Now()
						r.ReadLate(t.Context(), providers.Scope{})
						if took := time.Since(began); took > c.most {
							t.Errorf("a release waited %s", took)
						}
					})
					time.Sleep(c.apart)
				}
				all.Wait()
				if diff := cmp.Diff(c.batches, got.sizes); diff != "" {
					t.Errorf("batches (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestGatherAsksNothing: a caller that waits for others continues with the last one to arrive,
// and neither calls the cloud nor waits for callers that do.
func TestGatherAsksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := &readings{takes: time.Minute}
		r := newReader(cloud.read, 0, engine.Background)
		began := time.Now()
		var all sync.WaitGroup
		for i := range 5 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * gather * 2 / 5) // none at the end of a round
				r.Gather(t.Context())
				if took := time.Since(began); took != 3*gather {
					t.Errorf("the %dth waited until %v", i, took)
				}
			})
		}
		all.Go(func() { r.Read(t.Context(), providers.Scope{}) })
		all.Wait()
		if d := cmp.Diff([]int{1}, cloud.sizes); d != "" {
			t.Errorf("reads (-want +got):\n%s", d)
		}
	})
}
