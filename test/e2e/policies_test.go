package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
)

// TestDryRun says what it would do and does nothing.
func TestDryRun(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	meter := w.meter()
	dry := w.controller("--dry-run")
	fleet := w.fleet(2)
	w.must(w.Create(t.Context(), fleet...))
	for _, svc := range fleet {
		c := w.condition(svc.Name, status.TypeProgrammed, metav1.ConditionFalse, status.ReasonHeldByPolicy)
		kind := strings.Split(svc.Name, "-")[0] + "-load-balancer"
		if err := requireWords(c.Message, "create "+kind); err != nil {
			t.Errorf("%s: condition: %v", svc.Name, err)
		}
		w.eventually("the event", func() error {
			return requireWords(strings.Join(w.events(svc.Name), "\n"), "HeldByPolicy", kind)
		})
	}
	w.noWrites("dry run", meter)
	w.asBefore(before)

	// A dry run over what another one has made finds nothing to do, and holds
	// changes and deletions.
	dry.Kill()
	real := w.controller()
	w.programmed(fleet...)
	real.Kill()
	meter = w.meter()
	w.controller("--dry-run")
	w.update("classic-0", setAnnotation("connection-idle-timeout", "120"))
	w.condition("classic-0", status.TypeProgrammed, metav1.ConditionFalse, status.ReasonHeldByPolicy)
	w.must(w.Delete(t.Context(), fleet[1]))
	w.noWrites("dry run over live load balancers", meter)
	w.finalizers(fleet[1].Name, stockFinalizer)
	if len(w.get("classic-0").Status.LoadBalancer.Ingress) == 0 {
		t.Error("a dry run took the address away")
	}
}

// TestNoDelete keeps what is to be deleted, and says so.
func TestNoDelete(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	careful := w.controller("--policy=no-delete")
	fleet := w.fleet(2)
	w.must(w.Create(t.Context(), fleet...))
	w.programmed(fleet...)
	w.must(w.Delete(t.Context(), fleet...))
	for _, svc := range fleet {
		c := w.condition(svc.Name, status.TypeProgrammed, metav1.ConditionFalse, status.ReasonHeldByPolicy)
		if err := requireWords(c.Message, "delete", "load-balancer"); err != nil {
			t.Errorf("%s: %v", svc.Name, err)
		}
		w.finalizers(svc.Name, stockFinalizer)
		b, err := w.balancer(svc.Name)
		if err != nil || len(b.Listeners) != 1 || len(b.Members) != 2 {
			t.Errorf("%s does not serve any more: %+v, %v", svc.Name, b, err)
		}
	}
	careful.Kill()
	w.controller()
	if err := harness.Eventually(t.Context(), limit, w.Gone(fleet...)); err != nil {
		t.Fatal(err)
	}
	w.asBefore(before)
}

// TestUnknownPolicy ends at once: a policy that is not known would not be kept.
func TestUnknownPolicy(t *testing.T) {
	w := startWorld(t, 0)
	p := w.controller("--policy=no-dleete")
	w.eventually("the controller refuses to start", func() error {
		if p.Running() {
			return errors.New("it runs")
		}
		return nil
	})
	if got := p.Output(); requireWords(got, `"no-dleete"`, "no-delete") != nil {
		t.Error(fmt.Errorf("its last words do not help: %s", got[max(0, len(got)-500):]))
	}
}
