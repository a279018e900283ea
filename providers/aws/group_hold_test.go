package aws_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
)

// TestGroupRestartKeepsRules: a member whose new clients are refused keeps the rule that
// admits its old ones, also when the run of another member is the first after a restart.
func TestGroupRestartKeepsRules(t *testing.T) {
	setCredentials(t)
	inWorld(t, func(w *groupWorld) {
		a, b := groupMember(0, "front", 80), groupMember(1, "front", 443)
		a.Spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24"}
		w.good(a)
		w.good(b)
		const rule = "front-security-group-rule/shop/front/tcp/80-80/192.0.2.0/24"
		has := func() bool {
			return slices.ContainsFunc(w.all(b), func(line string) bool { return strings.HasPrefix(line, rule+" ") })
		}
		if !has() {
			t.Fatalf("no %s in %v", rule, w.all(b))
		}
		a.Spec.LoadBalancerSourceRanges = nil
		a.Annotations[prefix+"aws-load-balancer-security-group-prefix-lists"] = "pl-0000000000000none"
		w.restart()
		w.serve(b)
		if !has() {
			t.Fatal("the run of another member removed the rule")
		}
		if res := w.serve(a); res.Clean || !has() {
			t.Fatalf("clean %v, rule kept %v", res.Clean, has())
		}
		delete(a.Annotations, prefix+"aws-load-balancer-security-group-prefix-lists")
		a.Spec.LoadBalancerSourceRanges = []string{"203.0.113.0/24"}
		w.good(a)
		w.good(b)
		if has() {
			t.Error("the rule of the old clients is still there")
		}
	})
}

// TestGroupRuleIsReleased: what a member holds is removed with it.
func TestGroupRuleIsReleased(t *testing.T) {
	setCredentials(t)
	inWorld(t, func(w *groupWorld) {
		a, b := groupMember(0, "front", 80), groupMember(1, "front", 443)
		w.good(a)
		w.good(b)
		w.restart()
		w.serve(b)
		w.release(a)
		if slices.ContainsFunc(w.all(b), func(line string) bool { return strings.Contains(line, "/tcp/80-80/") }) {
			t.Errorf("left over: %v", w.all(b))
		}
		if res := w.run(b, false); slices.ContainsFunc(res.Report.Results, func(r engine.Result) bool { return r.Step.ID.Action == plan.Delete }) {
			t.Errorf("the other member deletes: %v", res.Report.Results)
		}
	})
}
