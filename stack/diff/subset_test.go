package diff_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/ledger"
)

type settings struct{ Values map[string]string }

// Keys that are not desired are neither changed nor shown as if they were.
func TestSubsetLooksAtWantedKeysOnly(t *testing.T) {
	rules := diff.Rules{Kinds: map[stack.Kind]diff.Rule{"settings": {Fields: diff.Fields{Subset: []string{"Values"}}}}}
	found := settings{map[string]string{"a": "1", "theirs": "x"}}
	for name, tc := range map[string]struct {
		want map[string]string
		from any // nil: no step
	}{
		"as wanted":   {map[string]string{"a": "1"}, nil},
		"other value": {map[string]string{"a": "2"}, map[string]string{"a": "1"}},
		"new key":     {map[string]string{"a": "1", "b": "2"}, map[string]string{"a": "1"}},
		"none wanted": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			key := stack.Key{Kind: "settings"}
			want := &stack.Stack{Resources: []stack.Resource{{Key: key, Spec: settings{tc.want}}}}
			have := &stack.Stack{Resources: []stack.Resource{{Key: key, ID: "id", Proof: stack.Name, Spec: found}}}
			var from any
			steps := diff.Compare(want, have, rules, ledger.New()).Steps
			if len(steps) == 1 {
				from = steps[0].Changes[0].From
			}
			if diff := cmp.Diff(tc.from, from); diff != "" || len(steps) > 1 {
				t.Errorf("%d steps, from (-want +got):\n%s", len(steps), diff)
			}
		})
	}
}
