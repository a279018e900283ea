package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack"
)

// TestQuotaOfManyPorts: all ports of a load balancer share what it may have, also where
// each zone and each group have room.
func TestQuotaOfManyPorts(t *testing.T) {
	svc, nodes, facts := largeService(300, 20, nil)
	facts.Quota = TargetQuota{Group: 1000, Zone: 5000, Balancer: 3000}
	want, problems := buildLarge(t, svc, nodes, facts, nil)
	total := 0
	for port, zones := range targetsOfPorts(want, facts) {
		for zone, n := range zones {
			if n != 50 {
				t.Errorf("%s: %d in %s, want 50", port, n, zone)
			}
			total += n
		}
	}
	if told := strings.Join(problems.Strings(), "\n"); total != 3000 || !strings.Contains(told, "are 300 with 20 ports each") || !strings.Contains(told, "150 of them get traffic") {
		t.Errorf("%d targets, told %q", total, told)
	}
}

// TestQuotaOfClassic: of more instances than a Classic Load Balancer takes a stable
// subset is chosen, in all zones, and the problem names both numbers.
func TestQuotaOfClassic(t *testing.T) {
	svc, nodes, facts := largeService(1200, 1, nil)
	delete(svc.Annotations, lbPrefix+"type")
	members := func(want *stack.Stack) []string {
		r, _ := want.Get(stack.Key{Kind: KindClassicInst})
		return r.Spec.(ClassicInstances).Instances
	}
	want, problems := buildLarge(t, svc, nodes, facts, nil)
	if told := strings.Join(problems.Strings(), "\n"); len(members(want)) != 1200 || !strings.Contains(told, "are 1200, above 1000 instances") {
		t.Errorf("quota not known: %d instances, told %q", len(members(want)), told)
	}
	facts.Quota = TargetQuota{Classic: 900}
	want, problems = buildLarge(t, svc, nodes[:1100], facts, nil)
	chosen, zones := members(want), map[string]int{}
	for _, id := range chosen {
		zones[facts.Instances[id].Zone]++
	}
	told := strings.Join(problems.Strings(), "\n")
	if len(chosen) != 900 || zones["z0"] != 300 || zones["z1"] != 300 || !strings.Contains(told, "are 1100, more than the 900 instances") {
		t.Errorf("%d instances, in zones %v, told %q", len(chosen), zones, told)
	}
	again, _ := buildLarge(t, svc, nodes, facts, asFound(want))
	if !slices.Equal(chosen, members(again)) {
		t.Error("others are chosen because nodes came")
	}
}
