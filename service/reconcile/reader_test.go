package reconcile

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
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

// ask reads for n Services that come one after the other, and checks that each
// gets its own answer.
func ask(t *testing.T, r *reader, n int, apart time.Duration, scope providers.Scope) {
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

// TestReaderBatches: Services that come shortly after each other share a read, a
// stream of them does not keep the first one waiting for long, and of those that
// are read with all their parts only so many go together.
func TestReaderBatches(t *testing.T) {
	deep := providers.Scope{Depth: providers.Deep, Own: []providers.Lookup{{Kind: "lb"}}}
	shallow := providers.Scope{Depth: providers.Shallow, Own: deep.Own}
	for _, tc := range []struct {
		name  string
		n     int
		apart time.Duration
		takes time.Duration
		scope providers.Scope
		want  []int
	}{
		{"one", 1, 0, time.Second, deep, []int{1}},
		{"together", 40, 0, time.Second, deep, []int{40}},
		{"shortly after each other", 40, 10 * time.Millisecond, time.Second, deep, []int{40}},
		{"one by one", 3, 100 * time.Millisecond, time.Millisecond, deep, []int{1, 1, 1}},
		{"while a read is under way", 3, 100 * time.Millisecond, time.Second, deep, []int{1, 2}},
		{"a stream", 100, 9 * time.Millisecond, time.Second, deep, []int{56, 44}},
		{"more than fit", 2*deepest + 1, 0, time.Second, deep, []int{deepest, deepest, 1}},
		{"many that are only looked at", 2*deepest + 1, 0, time.Second, shallow, []int{2*deepest + 1}},
		{"many that need facts", 2*deepest + 1, 0, time.Second, providers.Scope{Depth: providers.Deep}, []int{2*deepest + 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := &readings{takes: tc.takes}
				ask(t, newReader(got.read, 0, engine.Background), tc.n, tc.apart, tc.scope)
				if diff := cmp.Diff(tc.want, slices.Clone(got.sizes)); diff != "" {
					t.Errorf("batches (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestReaderHurries: who waits does not wait for the patience of those who do not.
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
