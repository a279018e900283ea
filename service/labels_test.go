package service

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
)

const labelOfOurs = "cloud.example/balancer-id"

// TestOwnLabels: a label that the provider writes is neither a user's change nor a touch, and
// shows that the Service was served. Labels of users are all of that.
func TestOwnLabels(t *testing.T) {
	keys, err := annotations.NewSet("toy", nil)
	if err != nil {
		t.Fatal(err)
	}
	outputs := providers.Outputs{Labels: []string{labelOfOurs}}
	c := &Controller{reconciler: reconcile.New(providers.Bound{Annotations: keys, Traits: providers.Traits{Outputs: outputs}}, reconcile.Options{})}
	for name, tc := range map[string]struct {
		label string
		ours  bool
	}{"own": {labelOfOurs, true}, "of the user": {"team", false}} {
		t.Run(name, func(t *testing.T) {
			old := &corev1.Service{}
			now := old.DeepCopy()
			now.Labels = map[string]string{tc.label: "lb-1"}
			if got := c.asksOtherwise(old, now); got == tc.ours {
				t.Errorf("a change of the user: %t", got)
			}
			if got := marksOf(old, outputs) != marksOf(now, outputs); got == tc.ours {
				t.Errorf("a touch: %t", got)
			}
			if carriesTheSame(old, now) {
				t.Error("a label that another program removes is not restored")
			}
			if got := isUnmarked(now, outputs); got == tc.ours {
				t.Errorf("unmarked: %t", got)
			}
		})
	}
	want := ReleasedMarks(outputs)
	if value, listed := want.Labels[labelOfOurs]; !listed || value != "" || len(want.Labels) != 1 {
		t.Errorf("a release writes the labels %v", want.Labels)
	}
}
