package wire

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/quay/model"
	simquay "github.com/berth-lb/berth/test/sim/quay"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// openSession returns a session on a new simulator, and the codes that its calls are counted under.
func openSession(t *testing.T) (*Session, *simquay.Harbour, *[]string) {
	t.Helper()
	h, codes := simquay.New(), &[]string{}
	env := providers.Env{Cluster: "test", Calls: func(_ context.Context, c providers.Call) func(providers.Answer) {
		return func(a providers.Answer) { *codes = append(*codes, c.Operation+" "+a.Code) }
	}}
	s, _, err := Open(t.Context(), model.Config{Endpoint: virtual.Start(t, h)}, env)
	if err != nil {
		t.Fatal(err)
	}
	return s.(*Session), h, codes
}

// TestRefusedInside: a refusal with status 200 is a fault of its code's meaning, and counted
// under the code in metrics and in the journal, once.
func TestRefusedInside(t *testing.T) {
	s, h, codes := openSession(t)
	for i, want := range []string{"", "NameTaken"} {
		err := s.write(t.Context(), request{method: http.MethodPost, path: "/balancers", body: map[string]any{"name": "k8s-1"}}, nil)
		if want == "" && err != nil || want != "" && !fault.Is(err, fault.Exists) {
			t.Errorf("call %d: %v", i, err)
		}
		if len(*codes) != i+1 || (*codes)[i] != "POST balancers "+want {
			t.Errorf("call %d: counted %q", i, *codes)
		}
		if e := h.Journal.Entries()[i]; e.Code != want || e.Status != 200 || e.Committed == (want != "") {
			t.Errorf("call %d: the journal has %+v", i, e)
		}
	}
}

// create has the session create a load balancer.
func (s *Session) create(t *testing.T, uid string) plan.Outcome {
	t.Helper()
	owner := stack.Owner{Namespace: "shop", Name: "web", UID: uid}
	step := plan.Step{ID: plan.StepID{Owner: owner, Key: model.BalancerKey(), Action: plan.Create}, Target: stack.Resource{Key: model.BalancerKey(), Spec: model.Balancer{Name: "k8s-" + uid}}}
	return s.Apply(t.Context(), plan.Batch{Steps: []plan.Step{step}})[0]
}

// TestCreationOutlastsItsAnswer verifies that a creation whose answer is lost is repeated with
// its token, and gives one load balancer, whose work request is waited for.
func TestCreationOutlastsItsAnswer(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s, h, _ := openSession(t)
		h.Busy = 30 * time.Second
		var body = map[string]any{"name": "k8s-1", "internal": false, "mark": "test/1"}
		first := s.write(t.Context(), request{method: http.MethodPost, path: "/balancers", body: body, header: map[string]string{"Idempotency-Token": "t"}}, nil)
		again := s.write(t.Context(), request{method: http.MethodPost, path: "/balancers", body: body, header: map[string]string{"Idempotency-Token": "t"}}, nil)
		if first != nil || again != nil {
			t.Errorf("with one token: %v, then %v", first, again)
		}
		began := time.Now()
		out := s.create(t, "2")
		if took := time.Since(began); out.Err != nil || out.After.ID != "b2" || took < 30*time.Second || took > 40*time.Second {
			t.Errorf("created %q after %v: %v", out.After.ID, took, out.Err)
		}
	})
}

// TestBusy verifies that a change waits for the end of the one before, of this or of another
// program.
func TestBusy(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s, h, _ := openSession(t)
		h.Busy = 3 * time.Second
		if out := s.create(t, "1"); out.Err != nil {
			t.Fatal(out.Err)
		}
		other := s.write(t.Context(), request{method: http.MethodPut, path: "/balancers/b1/machines", body: []string{"x"}}, nil)
		busy := s.write(t.Context(), request{method: http.MethodPut, path: "/balancers/b1/machines", body: []string{"y"}}, nil)
		if other != nil || codeOf(busy) != codeBusy || !fault.Is(busy, fault.Pending) {
			t.Fatalf("another program: %v; a call meanwhile: %v", other, busy)
		}
		began := time.Now()
		err := s.change(t.Context(), "b1", request{method: http.MethodPut, path: "/balancers/b1/machines", body: []string{"y"}})
		if took := time.Since(began); err != nil || took < 6*time.Second || took > 10*time.Second {
			t.Errorf("changed after %v: %v", took, err)
		}
	})
}

// TestOrphans verifies that pages are read to the last one, and that only load balancers of
// Services that do not exist any more are returned.
func TestOrphans(t *testing.T) {
	s, h, _ := openSession(t)
	h.PageSize = 1
	for _, mark := range []string{"test/1", "test/2", "other/3", "test/4"} {
		if err := s.write(t.Context(), request{method: http.MethodPost, path: "/balancers", body: map[string]any{"name": mark, "mark": mark}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	found, err := s.Orphans(t.Context(), providers.Live{Services: []stack.Owner{{UID: "2"}}})
	var got []string
	for _, have := range found {
		got = append(got, have.Owner.UID)
	}
	if d := cmp.Diff([]string{"1", "4"}, got); err != nil || d != "" {
		t.Errorf("error %v, orphans (-want +got):\n%s", err, d)
	}
}
