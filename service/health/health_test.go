package health

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
)

const stuck = 15 * time.Minute

func newHealth(t *testing.T, waiting time.Duration) (*Health, *clocktesting.FakeClock) {
	t.Helper()
	c := clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	h := New(Options{Clock: c, Stuck: stuck})
	h.Synced(func() time.Duration { return waiting })
	return h, c
}

// TestAlive makes the check fail in both ways, and well again.
func TestAlive(t *testing.T) {
	for name, tc := range map[string]struct {
		happens func(*Health, *clocktesting.FakeClock)
		waiting time.Duration
		want    string // of the error
	}{
		"nothing happens":              {func(_ *Health, c *clocktesting.FakeClock) { c.Step(10 * stuck) }, 0, ""},
		"a Service takes long":         {func(h *Health, c *clocktesting.FakeClock) { h.Begin("a/b"); c.Step(stuck) }, 0, ""},
		"a Service takes too long":     {func(h *Health, c *clocktesting.FakeClock) { h.Begin("a/b"); c.Step(stuck + time.Second) }, 0, "has been worked on for 15m1s"},
		"others get on meanwhile":      {func(h *Health, c *clocktesting.FakeClock) { h.Begin("a/b"); c.Step(2 * stuck); h.Begin("a/c")() }, 0, ""},
		"it ends after all":            {func(h *Health, c *clocktesting.FakeClock) { end := h.Begin("a/b"); c.Step(2 * stuck); end() }, 0, ""},
		"no worker takes what waits":   {func(_ *Health, c *clocktesting.FakeClock) { c.Step(2 * stuck) }, 2 * stuck, "no worker has ended anything for 30m0s"},
		"the queue is long, but moves": {func(h *Health, c *clocktesting.FakeClock) { c.Step(2 * stuck); h.Begin("a/b")() }, 2 * stuck, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h, c := newHealth(t, tc.waiting)
			tc.happens(h, c)
			err := h.Alive()
			if got := err != nil; got != (tc.want != "") || got && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want %q, got %v", tc.want, err)
			}
		})
	}
}

func TestReady(t *testing.T) {
	well, denied := providers.Answer{}, providers.Answer{Code: "AuthFailure", Meaning: fault.Denied}
	call := func(h *Health, a providers.Answer) { h.Call(context.Background(), providers.Call{})(a) }
	for name, tc := range map[string]struct {
		happens func(*Health)
		status  int
		says    []string
	}{
		"just started":           {func(*Health) {}, 503, []string{"not ready: standby", "[-] cloud has not been heard yet"}},
		"stands by":              {func(h *Health) { call(h, well) }, 200, []string{"ready: standby", "[+] cloud"}},
		"not let in":             {func(h *Health) { call(h, denied) }, 503, []string{"[-] cloud has not let us in: AuthFailure"}},
		"let in later":           {func(h *Health) { call(h, denied); call(h, well) }, 200, []string{"[+] cloud"}},
		"let in once":            {func(h *Health) { call(h, well); call(h, denied) }, 200, []string{"[+] cloud"}},
		"a refusal is an answer": {func(h *Health) { call(h, providers.Answer{Code: "ThrottlingException", Meaning: fault.Throttled}) }, 200, []string{"[+] cloud"}},
		"leads":                  {func(h *Health) { call(h, well); h.Lead() }, 503, []string{"not ready: leader", "[-] caches", "[-] ledger"}},
		"has the Services":       {func(h *Health) { call(h, well); h.Lead(); h.Synced(nil) }, 503, []string{"[+] caches", "[-] ledger"}},
		"knows all":              {func(h *Health) { call(h, well); h.Lead(); h.Synced(nil); h.Primed() }, 200, []string{"ready: leader\n", "[+] caches", "[+] ledger", "[+] cloud"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := New(Options{Clock: clocktesting.NewFakeClock(time.Now()), Stuck: stuck})
			tc.happens(h)
			w := httptest.NewRecorder()
			h.ServeReady(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
			if w.Code != tc.status {
				t.Errorf("want %d, got %d", tc.status, w.Code)
			}
			for _, text := range tc.says {
				if !strings.Contains(w.Body.String(), text) {
					t.Errorf("%q is not in:\n%s", text, w.Body)
				}
			}
		})
	}
}

// TestProbe: the cloud is asked once at a time, not too often, and not any more
// when it has answered.
func TestProbe(t *testing.T) {
	c := clocktesting.NewFakeClock(time.Now())
	asked, answer := make(chan struct{}), make(chan providers.Answer)
	var h *Health
	h = New(Options{Clock: c, Stuck: stuck, Probe: func(ctx context.Context) error {
		asked <- struct{}{}
		h.Call(ctx, providers.Call{})(<-answer)
		return nil
	}})
	var got []bool
	look := func() { got = append(got, h.Ready().Ready()) }
	look()
	<-asked
	look() // while one is under way
	answer <- providers.Answer{Code: "AuthFailure", Meaning: fault.Denied}
	waitFor(t, func() bool { h.mu.Lock(); defer h.mu.Unlock(); return !h.cloud.probing })
	look() // too soon
	c.Step(probePause)
	look()
	<-asked
	answer <- providers.Answer{}
	waitFor(t, func() bool { return h.Ready().Ready() })
	if d := cmp.Diff([]bool{false, false, false, false}, got); d != "" {
		t.Errorf("ready (-want +got):\n%s", d)
	}
}

// TestNoToken: the reason that kept the probe from making a call is reported.
func TestNoToken(t *testing.T) {
	h := New(Options{Clock: clocktesting.NewFakeClock(time.Now()), Stuck: stuck, Probe: func(context.Context) error {
		return fault.New(fault.Denied, "login")
	}})
	waitFor(t, func() bool { return strings.Contains(h.Ready().String(), "[-] cloud has not let us in: Denied") })
}

func waitFor(t *testing.T, ask func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ask(); {
		if time.Now().After(deadline) {
			t.Fatal("it never came")
		}
		time.Sleep(time.Millisecond)
	}
}
