package sim_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/sim"
)

// layeredBuckets returns a front bucket that counts all calls and, behind it, one
// bucket per resource and one per operation.
func layeredBuckets() []sim.Bucket {
	return []sim.Bucket{
		{Name: "front", Layer: "front", Capacity: 3, Refill: 1},
		{Name: "one", Layer: "back", Operations: []string{"Get"}, Per: sim.PerResource, Capacity: 1, Refill: 0.5},
		{Name: "each", Layer: "back", Per: sim.PerOperation, Capacity: 2, Refill: 1, Units: true},
	}
}

func TestLayers(t *testing.T) {
	var th sim.Throttle
	if err := th.Set(layeredBuckets()...); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	steps := []struct {
		call sim.Call
		want sim.Taken
	}{
		{sim.Call{Operation: "Get", Resource: "a"}, sim.Taken{Left: map[string]int{"front": 2, "back": 0}}},
		{sim.Call{Operation: "Get", Resource: "a"}, sim.Taken{Refused: true, By: "one", Wait: 2 * time.Second, Left: map[string]int{"front": 1}}},
		{sim.Call{Operation: "Put", Units: 2}, sim.Taken{Left: map[string]int{"front": 0, "back": 0}}},
		{sim.Call{Operation: "Get", Resource: "b"}, sim.Taken{Refused: true, By: "front", Wait: time.Second, Left: map[string]int{}}},
	}
	for i, s := range steps {
		if diff := cmp.Diff(s.want, th.Take(s.call, now)); diff != "" {
			t.Errorf("call %d (-want +got)\n%s", i, diff)
		}
	}
}

func TestWindow(t *testing.T) {
	var th sim.Throttle
	if err := th.Set(sim.Bucket{Name: "minute", Capacity: 2, Refill: 2.0 / 60, WindowSeconds: 60}); err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 1, 1, 0, 0, 15, 0, time.UTC)
	var got []time.Duration
	for _, after := range []time.Duration{0, 0, 0, 44 * time.Second, 45 * time.Second, 45 * time.Second, 46 * time.Second} {
		got = append(got, th.Take(sim.Call{}, begin.Add(after)).Wait)
	}
	want := []time.Duration{0, 0, 45 * time.Second, time.Second, 0, 0, 59 * time.Second}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("how long to wait (-want +got)\n%s", diff)
	}
}

// TestIdeal also lets a client that waits as told make the calls in the time.
func TestIdeal(t *testing.T) {
	var calls []sim.Call
	for range 6 {
		calls = append(calls, sim.Call{Operation: "Get", Resource: "a"}, sim.Call{Operation: "Put"})
	}
	ideal := sim.Ideal(layeredBuckets(), calls)
	if want := 10 * time.Second; ideal != want {
		t.Errorf("ideal %v, want %v: six reads of one resource, one at once and then one in two seconds", ideal, want)
	}
	if got := sim.Ideal(layeredBuckets(), calls[:2]); got != 0 {
		t.Errorf("ideal of what a burst has room for: %v, want 0", got)
	}
	var th sim.Throttle
	if err := th.Set(layeredBuckets()[1:]...); err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := begin
	for _, c := range calls {
		for taken := th.Take(c, now); taken.Refused; taken = th.Take(c, now) {
			now = now.Add(taken.Wait)
		}
	}
	if took := now.Sub(begin); took != ideal {
		t.Errorf("a client that waits took %v, want %v", took, ideal)
	}
}
