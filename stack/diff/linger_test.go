package diff_test

import (
	"testing"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
)

// TestLinger: a replaced resource is deleted after a while, with the resources that it
// needs; so are leftovers of such a change; a resource without a replacement is deleted
// at once.
func TestLinger(t *testing.T) {
	lingering := func(r *diff.Rules) {
		g := r.Kinds["group"]
		g.Linger = &diff.Linger{After: time.Minute, Since: "switch", With: func(old, other stack.Resource, _ []stack.Resource) bool {
			rule, is := other.Spec.(rule)
			return is && old.Spec.(group).Port == 30080 && rule.Allow == "30080"
		}}
		r.Kinds["group"] = g
	}
	moved := withChanges(ownedResource(newKey("group", "80"), stack.Key{}, group{Port: 30081}), ruleFor("30081"), stack.Resource{Key: newKey("rule", "30080")})
	left := append(append([]stack.Resource{}, moved...), ownedResource(newKey("group", "old"), stack.Key{}, group{Port: 30080}), ownedResource(newKey("targets", "old"), newKey("group", "old"), targets{}), ruleFor("30080"))
	runCompare(t, map[string]compareCase{
		"replaced": {
			want: desiredStack(moved...), have: observedStack(append(wholeStack(), ruleFor("30099"))...), rules: lingering,
			plan: []string{
				"create group/80",
				"create rule/30081",
				"delete rule/30080 <- create rule/30081 @1m0s",
				"delete rule/30099 <- create rule/30081",
				"update targets/80 ids+ <- create group/80",
				"update listener/80 <- create group/80, update targets/80 ids+",
				"delete group/80 <- create group/80, update listener/80, update targets/80 ids+ @1m0s",
			},
		},
		"left of a change that was cut short": {
			want: desiredStack(moved...), have: observedStack(left...), rules: lingering,
			plan: []string{"delete group/old @1m0s", "delete rule/30080 @1m0s"},
		},
		"its port goes": {
			want: desiredStack(ownedResource(theLB, stack.Key{}, lb{Scheme: "public"}), ownedResource(newKey("group", "81"), stack.Key{}, group{})),
			have: observedStack(append(wholeStack(), ownedResource(newKey("group", "81"), stack.Key{}, group{}))...), rules: lingering,
			plan: []string{"delete listener/80", "delete group/80 <- delete listener/80", "delete rule/30080"},
		},
		"all goes": {
			have: observedStack(left...), rules: lingering,
			plan: []string{
				"delete group/old", "delete rule/30080", "delete rule/30081", "delete lb <- delete rule/30080, delete rule/30081",
				"delete group/80 <- delete lb",
			},
		},
	})
}
