package model

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

const nodesGroup = "sg-nodes"

func tcpPermission(port int32, cidr string) Permission {
	return Permission{Protocol: "tcp", FromPort: port, ToPort: port, CIDR: cidr}
}

func fromGroup(id string) Permission {
	return Permission{Protocol: "-1", FromPort: -1, ToPort: -1, Source: stack.RefID(id)}
}

func ruleStep(owner string, a plan.Action, p Permission) plan.Step {
	target := stack.Resource{
		Key: NodeRuleKey(nodesGroup, Normal(p), ""), Ownership: stack.Shared,
		Spec: NodeRule{Group: nodesGroup, Permission: p, Description: "of " + owner},
	}
	return plan.Step{ID: plan.StepID{Owner: stack.Owner{Name: owner}, Key: target.Key, Action: a}, Target: target}
}

// claims knows which rules others want, by key name.
type claims map[string]bool

func (c claims) Others(_ stack.Owner, entry stack.Resource) []stack.Owner {
	if c[entry.Key.Name] {
		return []stack.Owner{{Name: "other"}}
	}
	return nil
}

func (c claims) Older(stack.Owner, stack.Resource) (stack.Owner, bool) { return stack.Owner{}, false }

func (c claims) Find(func(stack.Owner) bool) (stack.Owner, bool) { return stack.Owner{}, false }

type mergeCase struct {
	name    string
	found   []Permission
	steps   []plan.Step
	claims  claims
	limit   int
	add     []Permission
	remove  []Permission
	refused map[int]fault.Meaning
}

// TestMergeShares: several Services want, or no longer want, the same rule.
func TestMergeShares(t *testing.T) {
	runMerge(t, nil, []mergeCase{
		{
			name:  "what is there is not granted again, what is gone not revoked",
			found: []Permission{tcpPermission(1, "10.0.0.0/8")},
			steps: []plan.Step{ruleStep("a", plan.Create, tcpPermission(1, "10.0.0.0/8")), ruleStep("a", plan.Delete, tcpPermission(2, "10.0.0.0/8"))},
		},
		{
			name:  "two Services, one rule: one grant",
			steps: []plan.Step{ruleStep("a", plan.Create, tcpPermission(1, "10.0.0.0/8")), ruleStep("b", plan.Create, tcpPermission(1, "10.0.0.0/8"))},
			add:   []Permission{tcpPermission(1, "10.0.0.0/8")},
		},
		{
			name:  "one grants what the other revokes",
			found: []Permission{tcpPermission(1, "10.0.0.0/8")},
			steps: []plan.Step{ruleStep("a", plan.Delete, tcpPermission(1, "10.0.0.0/8")), ruleStep("b", plan.Create, tcpPermission(1, "10.0.0.0/8"))},
		},
		{
			name:   "another Service desires it by now",
			found:  []Permission{tcpPermission(1, "10.0.0.0/8"), tcpPermission(2, "10.0.0.0/8")},
			steps:  []plan.Step{ruleStep("a", plan.Delete, tcpPermission(1, "10.0.0.0/8")), ruleStep("a", plan.Delete, tcpPermission(2, "10.0.0.0/8"))},
			claims: claims{"sg-nodes/tcp/1-1/10.0.0.0/8": true},
			remove: []Permission{tcpPermission(2, "10.0.0.0/8")},
		},
	})
}

// TestMergeSources: rules whose source is a group, and the limit of a group.
func TestMergeSources(t *testing.T) {
	mine := stack.RefTo(stack.Key{Kind: KindGroup})
	own := ruleStep("a", plan.Create, Permission{Protocol: "-1", Source: mine})
	gone := ruleStep("a", plan.Create, Permission{Protocol: "-1", Source: stack.RefTo(stack.Key{Kind: KindGroup, Name: "x"})})
	ids := func(_ stack.Owner, r stack.Ref) (string, bool) {
		if r == mine {
			return "sg-own", true
		}
		return "", false
	}
	runMerge(t, ids, []mergeCase{
		{
			name:   "one pair is revoked, not the whole permission",
			found:  []Permission{fromGroup("sg-nodes"), fromGroup("sg-old"), fromGroup("sg-other")},
			steps:  []plan.Step{ruleStep("a", plan.Delete, fromGroup("sg-old"))},
			remove: []Permission{fromGroup("sg-old")},
		},
		{
			name:    "own groups are looked up when it is done",
			steps:   []plan.Step{own, gone},
			add:     []Permission{{Protocol: "-1", Source: stack.RefID("sg-own")}},
			refused: map[int]fault.Meaning{1: fault.Conflict},
		},
		{
			name:    "over the limit: revocations make room, the rest is refused by name",
			found:   []Permission{tcpPermission(1, "10.0.0.0/8"), tcpPermission(2, "10.0.0.0/8")},
			steps:   []plan.Step{ruleStep("a", plan.Create, tcpPermission(3, "10.0.0.0/8")), ruleStep("b", plan.Create, tcpPermission(4, "10.0.0.0/8")), ruleStep("c", plan.Delete, tcpPermission(1, "10.0.0.0/8"))},
			limit:   2,
			add:     []Permission{tcpPermission(3, "10.0.0.0/8")},
			remove:  []Permission{tcpPermission(1, "10.0.0.0/8")},
			refused: map[int]fault.Meaning{1: fault.Quota},
		},
	})
}

func runMerge(t *testing.T, ids plan.Resolver, tests []mergeCase) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var found []FoundRule
			for _, p := range tt.found {
				found = append(found, FoundRule{Permission: p, Description: "found"})
			}
			got := MergeRules(nodesGroup, found, plan.Batch{Steps: tt.steps, IDs: ids, Claims: tt.claims}, tt.limit)
			if d := cmp.Diff(tt.add, permissionsOf(got.Authorize)); d != "" {
				t.Errorf("authorize (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.remove, permissionsOf(got.Revoke)); d != "" {
				t.Errorf("revoke (-want +got):\n%s", d)
			}
			for i, want := range tt.refused {
				if !fault.Is(got.Refused[i], want) {
					t.Errorf("step %d: %v, want %v", i, got.Refused[i], want)
				}
			}
			if len(got.Refused) != len(tt.refused) {
				t.Errorf("refused %v", got.Refused)
			}
		})
	}
}

func permissionsOf(rules []FoundRule) []Permission {
	var out []Permission
	for _, r := range rules {
		out = append(out, r.Permission)
	}
	return out
}

// TestMergeRandom: whatever the steps, everything that a step grants exists afterwards,
// everything else that is removed was asked to be removed, and nothing is granted or
// revoked twice.
func TestMergeRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var found []FoundRule
		for port := range int32(8) {
			if rng.IntN(2) == 0 {
				found = append(found, FoundRule{Permission: tcpPermission(port, "10.0.0.0/8")})
			}
		}
		var steps []plan.Step
		wanted, unwanted := map[Permission]bool{}, map[Permission]bool{}
		for i := range rng.IntN(8) {
			p, a := tcpPermission(rng.Int32N(8), "10.0.0.0/8"), plan.Create
			if rng.IntN(2) == 0 {
				a = plan.Delete
				unwanted[p] = true
			} else {
				wanted[p] = true
			}
			steps = append(steps, ruleStep(fmt.Sprint(i), a, p))
		}
		edit := MergeRules(nodesGroup, found, plan.Batch{Steps: steps}, 0)
		after := map[Permission]int{}
		for _, r := range found {
			after[r.Permission]++
		}
		for _, r := range edit.Authorize {
			after[r.Permission]++
		}
		for _, r := range edit.Revoke {
			after[r.Permission]--
			if !unwanted[r.Permission] || wanted[r.Permission] {
				t.Fatalf("revoked %v", r)
			}
		}
		for p, n := range after {
			if n < 0 || n > 1 || n == 0 && wanted[p] {
				t.Fatalf("%v is there %d times after %v", p, n, edit)
			}
		}
		for p := range wanted {
			if after[p] != 1 {
				t.Fatalf("%v is wanted and not there", p)
			}
		}
	}
}
