package explore

import (
	"testing"
	"time"
)

// TestReleaseBesideDeletedNamesake: while the release of a lost Service is refused, a later
// Service of its name is applied with a mistake and deleted. It has no resources, and does
// not keep the resources that the release shares with others.
func TestReleaseBesideDeletedNamesake(t *testing.T) {
	performOn(t, slowToDelete, func(s *stage) {
		empty := s.state()
		s.start()
		Create("web", nil).Do(s.world)
		time.Sleep(5 * time.Minute)
		if s.address("web") == "" {
			t.Fatalf("no load balancer: %v", s.get("web").Status.Conditions)
		}
		Delete("web").Do(s.world)
		time.Sleep(time.Second)
		Reapply("web", setAnnotation("quay.example/internal", "maybe")).Do(s.world)
		time.Sleep(time.Second)
		Delete("web").Do(s.world)
		time.Sleep(30 * time.Minute)
		for _, svc := range s.kube.all() {
			t.Errorf("%s still exists: %v", svc.Name, svc.Status.Conditions)
		}
		if d := diffLines(empty, s.state()); d != "" {
			t.Errorf("something is left (-before +after):\n%s", d)
		}
	})
}
