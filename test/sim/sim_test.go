package sim_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/sim"
)

func TestJournal(t *testing.T) {
	var j sim.Journal
	j.Append(sim.Entry{Service: "s", Operation: "Describe"})
	j.Append(sim.Entry{Service: "s", Operation: "Create", Write: true})
	j.Append(sim.Entry{Service: "s", Operation: "Describe"})
	if diff := cmp.Diff(map[string]int{"s.Describe": 2, "s.Create": 1}, j.Counts()); diff != "" {
		t.Errorf("counts (-want +got)\n%s", diff)
	}
	if j.Writes() != 1 || j.Calls() != 3 {
		t.Errorf("writes %d, calls %d, want 1 and 3", j.Writes(), j.Calls())
	}
	if got := j.Since(2); len(got) != 1 || got[0].Seq != 3 {
		t.Errorf("since 2 = %v, want call 3", got)
	}
	j.Reset()
	if seq := j.Append(sim.Entry{}); seq != 4 || len(j.Since(3)) != 1 {
		t.Errorf("after reset: number %d, since 3 %v, want 4 and one call", seq, j.Since(3))
	}
}

func TestFaults(t *testing.T) {
	var f sim.Faults
	add := func(fault sim.Fault) int {
		id, err := f.Add(fault)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	add(sim.Fault{Service: "elb*", Operation: "Create*", After: 1, Count: 2, Kind: sim.FaultError, Code: "X"})
	var hits []bool
	for range 5 {
		hits = append(hits, len(f.Take("elbv2", "CreateListener", true)) > 0)
	}
	if diff := cmp.Diff([]bool{false, true, true, false, false}, hits); diff != "" {
		t.Errorf("after 1, count 2 (-want +got)\n%s", diff)
	}
	if got := f.Take("ec2", "CreateTags", true); len(got) != 0 {
		t.Errorf("another service got %v", got)
	}
	f.Clear()
	stale := add(sim.Fault{Kind: sim.FaultStale})
	if len(f.Take("ec2", "CreateTags", true)) != 0 || len(f.Take("ec2", "DescribeTags", false)) != 1 {
		t.Error("a stale fault must touch reads only")
	}
	if !f.WantsHistory() || !f.Remove(stale) || f.WantsHistory() || f.Remove(stale) {
		t.Error("remove does not take the fault away exactly once")
	}
	if _, err := f.Add(sim.Fault{Kind: "nonsense"}); err == nil {
		t.Error("an unknown kind was accepted")
	}
	if _, err := f.Add(sim.Fault{Kind: sim.FaultError, Operation: "["}); err == nil {
		t.Error("a bad pattern was accepted")
	}
}

func TestThrottle(t *testing.T) {
	var th sim.Throttle
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	take := func(operation string, at time.Time) bool {
		return !th.Take(sim.Call{Service: "s", Operation: operation}, at).Refused
	}
	if !take("Any", now) {
		t.Error("no buckets must let everything through")
	}
	if err := th.Set(sim.Bucket{Name: "b", Service: "s", Operations: []string{"Describe*"}, Capacity: 2, Refill: 1}); err != nil {
		t.Fatal(err)
	}
	got := []bool{take("DescribeX", now), take("DescribeY", now), take("DescribeX", now), take("CreateX", now), take("DescribeX", now.Add(time.Second))}
	if diff := cmp.Diff([]bool{true, true, false, true, true}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := th.Set(sim.Bucket{Capacity: -1}); err == nil {
		t.Error("a negative capacity was accepted")
	}
}

// TestAgent: the journal records which program has sent a call.
func TestAgent(t *testing.T) {
	c := &sim.Control{}
	r := httptest.NewRequest(http.MethodPost, "/things", nil)
	r.Header.Set("User-Agent", "sdk/1 replica-2")
	c.Handle(httptest.NewRecorder(), r, func() (*sim.Visit, sim.Answer) { return &sim.Visit{}, func(w http.ResponseWriter, _ int) {} })
	if got := c.Journal.Entries(); len(got) != 1 || got[0].Agent != "sdk/1 replica-2" {
		t.Errorf("journal %+v, want the agent of the request", got)
	}
}

func TestControl(t *testing.T) {
	c := &sim.Control{State: func() any { return map[string]int{"things": 7} }}
	c.Journal.Append(sim.Entry{Service: "s", Operation: "Do", Write: true})
	do := func(method, path, body string) (int, string) {
		w := httptest.NewRecorder()
		c.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		return w.Code, strings.Join(strings.Fields(w.Body.String()), "")
	}
	fault := `{"service":"ec2","operation":"Create*","kind":"latency","latency":"150ms","behindTime":"2s"}`
	tests := []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/_sim/counts", "", 200, `{"calls":1,"operations":{"s.Do":1},"writes":1}`},
		{"GET", "/_sim/state", "", 200, `{"things":7}`},
		{"POST", "/_sim/faults", fault, 200, `{"id":1}`},
		{"GET", "/_sim/faults", "", 200, `{"1":{"service":"ec2","operation":"Create*","kind":"latency","latency":"150ms","behindTime":"2s"}}`},
		{"POST", "/_sim/faults", `{"kind":"odd"}`, 400, ""},
		{"POST", "/_sim/faults", `{"kind":"error","latency":"soon"}`, 400, ""},
		{"DELETE", "/_sim/faults?id=9", "", 400, ""},
		{"DELETE", "/_sim/faults?id=1", "", 200, `{"ok":true}`},
		{"GET", "/_sim/faults", "", 200, `{}`},
		{"POST", "/_sim/throttle", `[{"name":"b","capacity":1,"refill":2}]`, 200, `{"ok":true}`},
		{"GET", "/_sim/throttle", "", 200, `[{"name":"b","capacity":1,"refill":2}]`},
		{"DELETE", "/_sim/journal", "", 200, `{"ok":true}`},
		{"GET", "/_sim/journal?since=0", "", 200, `[]`},
		{"GET", "/_sim/journal?since=x", "", 400, ""},
		{"GET", "/_sim/nothing", "", 404, ""},
	}
	for _, tc := range tests {
		status, got := do(tc.method, tc.path, tc.body)
		if status != tc.status || (tc.want != "" && got != tc.want) {
			t.Errorf("%s %s: %d %s, want %d %s", tc.method, tc.path, status, got, tc.status, tc.want)
		}
	}
	if got := c.Throttle.List(); len(got) != 1 || got[0].Refill != 2 {
		t.Errorf("buckets %v, want the one that was posted", got)
	}
}

func TestFaultRoundTrip(t *testing.T) {
	want := sim.Fault{Service: "a", Kind: sim.FaultStale, Latency: time.Second, BehindWrites: 2, BehindTime: time.Minute, Status: http.StatusTeapot}
	doc, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got sim.Fault
	if err := json.Unmarshal(doc, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
