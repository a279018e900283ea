package wire

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-lb/berth/providers/kit"
)

// TestPolls: however long operations take, and however many are under way, each costs
// about one question, and none is waited for much longer than it takes.
func TestPolls(t *testing.T) {
	const writes, together = 20, 10
	for _, tc := range []struct {
		took, said time.Duration
		most       float64 // questions for each operation
		late       time.Duration
	}{
		{took: 0, most: 1.2, late: time.Second},
		{took: 4 * time.Second, most: 1.2, late: 2 * time.Second},
		{took: 25 * time.Second, most: 1.2, late: 8 * time.Second},
		{took: 3 * time.Second, said: 10 * time.Second, most: 1, late: 8 * time.Second},
		{took: 4 * time.Minute, said: 10 * time.Second, most: 1.6, late: time.Minute},
	} {
		t.Run(tc.took.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Session{now: time.Now, patience: patience}
				header := http.Header{}
				if tc.said > 0 {
					header.Set("Retry-After", tc.said.String()[:len(tc.said.String())-1])
				}
				var asked atomic.Int32
				one := func() {
					began := time.Now()
					if err := s.until(t.Context(), "PUT things", "/things/x", header, func(ctx context.Context) (bool, http.Header, error) {
						asked.Add(1)
						return time.Since(began) >= tc.took, header, ctx.Err()
					}); err != nil {
						t.Error(err)
					}
					if late := time.Since(began) - tc.took; late > tc.late {
						t.Errorf("waited %v longer than the operation took", late)
					}
				}
				for range writes {
					var all sync.WaitGroup
					for range together {
						all.Go(one)
					}
					all.Wait()
				}
				if each := float64(asked.Load()) / (writes * together); each > tc.most {
					t.Errorf("%.2f questions for each operation, want at most %.2f", each, tc.most)
				}
			})
		})
	}
}

// TestFewQuestions: where operations take four seconds, each of the few that a process
// waits for costs one question, the first of all included.
func TestFewQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Session{now: time.Now, patience: patience}
		asked := 0
		header := http.Header{"Retry-After": {"1"}}
		kinds := []string{"PUT things", "PUT others", "DELETE things"}
		for i := range 4 * len(kinds) {
			began := time.Now()
			if err := s.until(t.Context(), kinds[i%len(kinds)], "/things/x", header, func(ctx context.Context) (bool, http.Header, error) {
				asked++
				return time.Since(began) >= 4*time.Second, header, ctx.Err()
			}); err != nil {
				t.Error(err)
			}
			if late := time.Since(began) - 4*time.Second; late > 2*time.Second {
				t.Errorf("waited %v longer than the operation took", late)
			}
		}
		if asked != 4*len(kinds) {
			t.Errorf("%d questions for %d operations", asked, 4*len(kinds))
		}
	})
}

// TestQuickerOperations: where operations have become quicker, the waits become shorter.
func TestQuickerOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Session{now: time.Now, patience: patience}
		for _, takes := range []time.Duration{20 * time.Second, 5 * time.Second} {
			var last time.Duration
			for range 100 {
				began := time.Now()
				if err := s.until(t.Context(), "PUT things", "/things/x", nil, func(ctx context.Context) (bool, http.Header, error) {
					return time.Since(began) >= takes, nil, ctx.Err()
				}); err != nil {
					t.Error(err)
				}
				last = time.Since(began)
			}
			if last > takes*5/4 {
				t.Errorf("the last of a hundred operations of %v was waited for %v", takes, last)
			}
		}
	})
}

// TestPaceGoesOn: where the first operation of a kind does not show how long it takes,
// the next one does.
func TestPaceGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Session{now: time.Now, patience: time.Second}
		never := func(ctx context.Context) (bool, http.Header, error) { return false, nil, ctx.Err() }
		err := s.until(t.Context(), "PUT things", "/things/x", nil, never)
		if _, is := errors.AsType[*kit.UnendedError](err); !is {
			t.Errorf("got %v, want that it is slow", err)
		}
		asked := 0
		if err := s.until(t.Context(), "PUT things", "/things/y", nil, func(ctx context.Context) (bool, http.Header, error) {
			asked++
			return true, nil, ctx.Err()
		}); err != nil || asked != 1 {
			t.Errorf("%v after %d questions", err, asked)
		}
	})
}

// TestPaceOfHanging: if the first operation of a kind hangs, the end of the others is
// observed.
func TestPaceOfHanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Session{now: time.Now, patience: patience}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			// It ends with the test, in any case with an error.
			_ = s.until(ctx, "PUT things", "/things/x", nil, func(ctx context.Context) (bool, http.Header, error) { return false, nil, ctx.Err() })
		})
		synctest.Wait()
		began := time.Now()
		if err := s.until(ctx, "PUT things", "/things/y", nil, func(ctx context.Context) (bool, http.Header, error) { return true, nil, ctx.Err() }); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > scouting+time.Second {
			t.Errorf("waited %v behind one that hangs", took)
		}
		cancel()
		all.Wait()
	})
}

// TestPaceWithoutQueue: for how long a question waits behind other calls is no part of what
// operations of its kind take.
func TestPaceWithoutQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Session{now: time.Now, patience: patience}
		wait := func(queue time.Duration) (due time.Duration) {
			began := time.Now()
			if err := s.until(t.Context(), "PUT things", "/things/x", nil, func(context.Context) (bool, http.Header, error) {
				due = time.Since(began)
				time.Sleep(queue)
				return true, nil, nil
			}); err != nil {
				t.Error(err)
			}
			return due
		}
		first := wait(16 * time.Second)
		if next := wait(0); next > 2*first {
			t.Errorf("the next operation is asked about after %v, the first one was after %v", next, first)
		}
	})
}

// TestSameHost verifies that a token is sent to the resource manager only, whose lists may
// name the default port.
func TestSameHost(t *testing.T) {
	for _, c := range []struct {
		link, endpoint string
		want           bool
	}{
		{"https://management.azure.com/subscriptions/s?$skiptoken=x", "https://management.azure.com", true},
		{"https://management.azure.com:443/subscriptions/s?$skiptoken=x", "https://management.azure.com", true},
		{"https://Management.Azure.com/subscriptions/s", "https://management.azure.com:443", true},
		{"http://127.0.0.1:80/subscriptions/s", "http://127.0.0.1", true},
		{"https://management.azure.com:8443/subscriptions/s", "https://management.azure.com", false},
		{"http://management.azure.com/subscriptions/s", "https://management.azure.com", false},
		{"http://management.azure.com:443/subscriptions/s", "https://management.azure.com", false},
		{"https://management.azure.com.evil.example/subscriptions/s", "https://management.azure.com", false},
		{"https://evil.example:443/", "https://management.azure.com", false},
	} {
		if got := sameHost(c.link, c.endpoint); got != c.want {
			t.Errorf("%s from %s: %v, want %v", c.link, c.endpoint, got, c.want)
		}
	}
}
