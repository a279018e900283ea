package main

import (
	"slices"
	"strings"
	"testing"

	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
)

// TestScript plays the script to two simulated clouds, which must agree; and it must
// ask for everything that the simulator knows, but for what the real cloud lacks.
func TestScript(t *testing.T) {
	steps, err := parseScript(probe)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		clear(s.differs) // between two that are the same nothing does
	}
	var sims []*simulation
	for range 2 {
		sim, err := startSimulation(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sim.stop)
		sims = append(sims, sim)
	}
	var out strings.Builder
	got, err := compareClouds(t.Context(), &out, steps, sims[0].cloud, sims[1].cloud)
	if err != nil || got.differences > 0 || got.requests == 0 {
		t.Fatalf("%d requests, %d differences: %v\n%s", got.requests, got.differences, err, out.String())
	}
	asked := sims[0].Journal.Counts()
	for _, operation := range simopenstack.Operations() {
		absent := strings.HasPrefix(operation, "key-manager.") || strings.HasPrefix(operation, "compute.")
		if !absent && asked[operation] == 0 && !slices.Contains([]string{"identity.ListVersions", "identity.ShowVersion", "load-balancer.ShowQuota"}, operation) {
			t.Errorf("the script never asks for %s", operation)
		}
	}
}

// TestJudge: a response that differs is reported, whatever the difference is.
func TestJudge(t *testing.T) {
	real := map[string]string{"status": "201", "pool.name": `"p"`, "pool.description": `""`}
	for name, mine := range map[string]map[string]string{
		"status":  {"status": "200", "pool.name": `"p"`},
		"value":   {"status": "201", "pool.name": `"q"`},
		"nothing": {"status": "201"},
		"more":    {"status": "201", "pool.name": `"p"`, "pool.more": "1"},
	} {
		var r result
		var out strings.Builder
		if r.judge(&out, step{}, mine, real); r.differences != 1 || out.Len() == 0 {
			t.Errorf("%s: %d differences: %s", name, r.differences, out.String())
		}
	}
	var r result
	var out strings.Builder
	r.judge(&out, step{differs: map[string]string{"pool.name": "chosen"}}, map[string]string{"status": "201", "pool.name": `"q"`}, real)
	if r.differences != 0 || r.accepted != 1 {
		t.Errorf("a known difference: %d, %d accepted", r.differences, r.accepted)
	}
	if r.judge(&out, step{differs: map[string]string{"pool.name": "chosen"}}, real, real); r.differences != 1 {
		t.Error("a line for a difference that is none any more stays unnoticed")
	}
}
