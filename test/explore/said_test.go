package explore

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
)

// TestEverythingIsSaid: each reason of a condition and each event that the reference lists
// occurs in a scene or in a failure of hours, and each scene shows the reasons that it exists
// for.
func TestEverythingIsSaid(t *testing.T) {
	reasons, events := map[status.ReasonDoc]bool{}, map[status.EventReason]bool{}
	hear := func(s *stage, play func()) map[string]bool {
		heard := map[string]bool{}
		for _, c := range s.conditions(play) {
			reasons[status.ReasonDoc{Reason: status.Reason(c.Reason), Type: c.Type, True: c.Status == metav1.ConditionTrue}] = true
			heard[c.Reason] = true
		}
		for _, e := range s.heed.all() {
			events[status.EventReason(e.reason)] = true
			heard[e.reason] = true
		}
		return heard
	}
	for _, f := range listFailures() {
		t.Run(f.cloud+"/"+f.what, func(t *testing.T) {
			c := listClouds()[f.cloud]
			performOn(t, c.fresh, func(s *stage) { hear(s, func() { s.fail(c.shape, f) }) })
		})
	}
	for _, sc := range listScenes() {
		t.Run(sc.cloud+"/"+sc.what, func(t *testing.T) {
			c := listClouds()[sc.cloud]
			if sc.fresh != nil {
				c.fresh = sc.fresh
			}
			performOn(t, c.fresh, func(s *stage) {
				heard := hear(s, func() { sc.play(s, c.shape) })
				for _, word := range sc.says {
					if !heard[word] {
						t.Errorf("%s was not said: %v %v", word, s.heed.all(), s.get("web").Status.Conditions)
					}
				}
			})
		})
	}
	for _, r := range status.Reasons() {
		if !reasons[status.ReasonDoc{Reason: r.Reason, Type: r.Type, True: r.True}] {
			t.Errorf("no scene brings the reason %s of %s", r.Reason, r.Type)
		}
	}
	for _, e := range status.EventReasons() {
		if !events[e.Reason] {
			t.Errorf("no scene brings the event %s", e.Reason)
		}
	}
}

// conditions returns the conditions that Services have during a play.
func (s *stage) conditions(play func()) []metav1.Condition {
	s.t.Helper()
	changes, ok := s.kube.watch("services", s.kube.meta().ResourceVersion)
	if !ok {
		s.t.Fatal("the version has changed")
	}
	play()
	time.Sleep(time.Second)
	var all []metav1.Condition
	for c, ok := changes.first(false); ok; c, ok = changes.first(false) {
		if svc, isService := c.object.(*corev1.Service); isService {
			all = append(all, svc.Status.Conditions...)
		}
	}
	return all
}
