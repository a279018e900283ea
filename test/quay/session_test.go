package quay

import (
	"context"
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	simquay "github.com/berth-lb/berth/test/sim/quay"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// openSession returns a session on a new simulator, and the codes that its calls are counted under.
func openSession(t *testing.T) (*session, *simquay.Harbour, *[]string) {
	t.Helper()
	h, codes := simquay.New(), &[]string{}
	env := providers.Env{Cluster: "test", Calls: func(_ context.Context, c providers.Call) func(providers.Answer) {
		return func(a providers.Answer) { *codes = append(*codes, c.Operation+" "+a.Code) }
	}}
	s, _, err := open(t.Context(), Config{Endpoint: virtual.Start(t, h)}, env)
	if err != nil {
		t.Fatal(err)
	}
	return s.(*session), h, codes
}

// TestRefusedInside: a refusal with status 200 is a fault of its code's meaning, and counted
// under the code in metrics and in the journal, once.
func TestRefusedInside(t *testing.T) {
	s, h, codes := openSession(t)
	for i, want := range []string{"", "NameTaken"} {
		err := s.write(t.Context(), "POST", "/balancers", document{Name: "k8s-1"}, &document{})
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
