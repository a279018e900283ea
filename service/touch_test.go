package service

import (
	"testing"
	"time"

	"github.com/berth-lb/berth/status"
)

// TestTouched: what users and their tools write beside the spec is noticed once, what
// we write ourselves is not, and the first sight of a Service is no change.
func TestTouched(t *testing.T) {
	svc := newClaimService("berth")
	v, _ := visitTo(svc)
	for i, step := range []struct {
		key, value string
		want       bool
	}{
		{"", "", false},
		{"kick", "1", true},
		{"kick", "1", false},
		{status.AnnotationApplied, "abc;class=", false},
		{status.AnnotationLookAgain, "now", true},
		{status.AnnotationLookAgain, "later", true},
	} {
		if step.key != "" {
			svc.Annotations[step.key] = step.value
		}
		if got := v.touched(); got != step.want {
			t.Errorf("step %d: touched %t, want %t", i, got, step.want)
		}
	}
	svc.Labels = map[string]string{"team": "a"}
	if !v.touched() {
		t.Error("a label is not noticed")
	}
}

// TestWantsLook: a touch asks for a look once in a minute, a user's demand always.
func TestWantsLook(t *testing.T) {
	svc := newClaimService("berth")
	v, clock := visitTo(svc)
	for i, step := range []struct {
		after time.Duration
		key   string
		want  bool
	}{
		{0, "", false},
		{time.Second, "kick", false},
		{time.Second, status.AnnotationLookAgain, true},
		{time.Minute, "", false},
		{time.Second, "kick", true},
	} {
		clock.Step(step.after)
		if step.key != "" {
			svc.Annotations[step.key] += "x"
		}
		if got := v.wantsLook(); got != step.want {
			t.Errorf("step %d: %t, want %t", i, got, step.want)
		}
	}
}
