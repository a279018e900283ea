package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// TestFlips: a condition that falls is counted, but for the one fall that a user's own
// change brings.
func TestFlips(t *testing.T) {
	o := newObserver(nil)
	turns := func(uid types.UID, status metav1.ConditionStatus) {
		svc := &corev1.Service{}
		svc.UID, svc.Status.Conditions = uid, []metav1.Condition{{Type: "Programmed", Status: status}}
		o.see(watch.Modified, svc)
	}
	rises := func() { turns("changed", metav1.ConditionTrue); turns("other", metav1.ConditionTrue) }
	for _, step := range []struct {
		name string
		do   func()
		want int
	}{
		{"both are served", rises, 0},
		{"one falls by itself", func() { turns("changed", metav1.ConditionFalse) }, 1},
		{"it comes back", rises, 1},
		{"a user changes it, and it falls", func() { o.changes("changed"); turns("changed", metav1.ConditionUnknown) }, 1},
		{"it stays down", func() { turns("changed", metav1.ConditionFalse) }, 1},
		{"the other one falls meanwhile", func() { turns("other", metav1.ConditionFalse) }, 2},
		{"both come back", rises, 2},
		{"it falls a second time", func() { turns("changed", metav1.ConditionFalse) }, 3},
	} {
		if step.do(); o.flips != step.want {
			t.Errorf("%s: %d flips, want %d", step.name, o.flips, step.want)
		}
	}
}
