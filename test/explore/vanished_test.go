package explore

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/props"
)

// TestVanished: a load balancer that was deleted behind Berth's back is found on every cloud:
// on any edit of its Service, on a user's request, and by the drift check. One event reports
// that it was missing, and one the new address.
func TestVanished(t *testing.T) {
	touch := func(key string) func(*stage) {
		return func(s *stage) {
			Change("web", "touch", func(svc *corev1.Service) { metav1.SetMetaDataAnnotation(&svc.ObjectMeta, key, "1") }).Do(s.world)
			time.Sleep(5 * time.Minute)
		}
	}
	ways := map[string]func(*stage){
		"touched":     touch("example.com/kick"),
		"berth sync":  touch(status.AnnotationLookAgain),
		"drift check": func(*stage) { time.Sleep(70 * time.Minute) },
	}
	for name, c := range listClouds() {
		for way, notice := range ways {
			t.Run(name+"/"+way, func(t *testing.T) {
				performOn(t, c.fresh, func(s *stage) { s.vanish(c.shape, notice) })
			})
		}
	}
}

// vanish deletes a load balancer by hand and judges what follows when it is noticed.
func (s *stage) vanish(shape Shape, notice func(*stage)) {
	empty := s.state()
	s.start()
	Create("web", shape).Do(s.world)
	time.Sleep(10 * time.Minute)
	before := s.address("web")
	if before == "" {
		s.t.Fatalf("no load balancer: %v", s.get("web").Status.Conditions)
	}
	s.beside(s.get("web"), reconcile.Job{Release: true})
	if d := diffLines(empty, s.state()); d != "" {
		s.t.Fatalf("something is left of what was deleted by hand (-before +after):\n%s", d)
	}
	since := time.Now()
	notice(s)
	after := s.address("web")
	said := s.heed.of("web", since)
	missing := slices.ContainsFunc(said, func(e event) bool {
		return e.reason == string(status.EventDriftFound) && strings.Contains(e.text, "is missing")
	})
	if !missing {
		s.t.Errorf("nothing says that it was missing: %v", said)
	}
	moved := slices.ContainsFunc(said, func(e event) bool {
		return e.reason == string(status.EventReplaced) && strings.Contains(e.text, after) && strings.Contains(e.text, before)
	})
	if moved != (after != before) || after == "" {
		s.t.Errorf("the address was %s and is %s: %v", before, after, said)
	}
	if d := s.beside(s.get("web"), reconcile.Job{}); len(d.Plan.Steps)+len(d.Plan.Blocked) > 0 {
		s.t.Errorf("what is there is not as wanted: %v", d.Plan.Steps)
	}
	if c := s.get("web").Status.Conditions; !slices.ContainsFunc(c, func(c metav1.Condition) bool {
		return c.Type == status.TypeProgrammed && c.Status == metav1.ConditionTrue
	}) {
		s.t.Errorf("conditions %v", c)
	}
}

// state returns the complete state of the cloud.
func (s *stage) state() string {
	s.t.Helper()
	out, err := props.StateOf(s.subject.Control)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}
