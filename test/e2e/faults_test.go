package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

func (w *world) arm(f sim.Fault) {
	w.t.Helper()
	w.must(w.Sim.Arm(w.t.Context(), f))
}

func (w *world) disarm() {
	w.t.Helper()
	w.must(w.Sim.Disarm(w.t.Context()))
}

// refusedWrites waits until the cloud has refused so many writes. These are retried, so that
// no event is needed.
func (w *world) refusedWrites(n int) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%d refused writes", n), func() error {
		refused := 0
		for _, e := range w.written(0) {
			if len(e.Faults) > 0 {
				refused++
			}
		}
		return atLeast(n, refused)
	})
}

// TestNarrowBucket gets through at the rate that the cloud allows.
func TestNarrowBucket(t *testing.T) {
	w := startWorld(t, 2)
	w.must(w.Sim.Throttle(t.Context(), sim.Bucket{Name: "writes", Operations: []string{"Create*", "Register*", "Authorize*", "Modify*", "Configure*"}, Capacity: 12, Refill: 3}))
	w.controller()
	fleet := w.fleet(6)
	w.must(w.Create(t.Context(), fleet...))
	w.programmed(fleet...)
	w.onceEach(len(fleet))
	refused := 0
	for _, e := range w.written(0) {
		if e.Throttled {
			refused++
		}
	}
	t.Logf("%d of %d calls were refused", refused, len(w.written(0)))
	if refused == 0 {
		t.Error("no call was refused: the test tests nothing")
	}
}

// TestSlowCloud makes and removes load balancers in a cloud that takes its time.
func TestSlowCloud(t *testing.T) {
	w := startWorld(t, 2, "--new-group-delay=1s", "--provisioning-delay=2s", "--healthy-delay=1s", "--draining-delay=2s")
	before := w.state()
	w.controller()
	fleet := w.fleet(4)
	w.must(w.Create(t.Context(), fleet...))
	w.programmed(fleet...)
	w.settled(w.meter())
	w.onceEach(len(fleet))
	for _, svc := range fleet {
		if warned := w.warnings(svc.Name); len(warned) > 0 {
			t.Errorf("%s: being slow is no reason to warn: %q", svc.Name, warned)
		}
	}
	w.remove(fleet...)
	w.asBefore(before)
}

// TestStaleReads returns an earlier state of the cloud for every read: a second create of a
// resource that is not visible yet must yield the same resource.
func TestStaleReads(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	w.arm(sim.Fault{Kind: sim.FaultStale, Operation: "Describe*", BehindTime: 300 * time.Millisecond})
	w.controller()
	fleet := w.fleet(4)
	w.must(w.Create(t.Context(), fleet...))
	w.programmed(fleet...)
	w.settled(w.meter())
	w.oneOfEach(len(fleet))
	w.remove(fleet...)
	w.asBefore(before)
}

// TestGroupInUse deletes a load balancer whose group AWS keeps in use for some seconds: the
// finalizer stays until the group is deleted, and no warning is recorded.
func TestGroupInUse(t *testing.T) {
	w := startWorld(t, 2, "--release-delay=6s")
	before := w.state()
	w.controller()
	svc := w.create("web")
	w.must(w.Delete(t.Context(), svc))
	w.eventually("the load balancer goes", func() error {
		if list, err := w.named("web"); err != nil || len(list) > 0 {
			return fmt.Errorf("still there: %v, %w", list, err)
		}
		return nil
	})
	w.finalizers("web", stockFinalizer)
	w.eventually("the condition names what is in use", func() error {
		c := w.condition("web", status.TypeProgrammed, metav1.ConditionFalse, status.ReasonDeleting)
		return requireWords(c.Message, "security-group")
	})
	if err := harness.Eventually(t.Context(), limit, w.Gone(svc)); err != nil {
		t.Fatal(err)
	}
	if warned := w.warnings("web"); len(warned) > 0 {
		t.Errorf("a wait is no reason to warn: %q", warned)
	}
	w.asBefore(before)
}

// TestTargetGroupLingers moves a listener to another node port. The Network Load Balancer
// keeps sending to the old target group for a while: the group and the rules for its traffic
// stay meanwhile, without a warning. Deleting the Service deletes the group too, although AWS
// keeps it in use for some seconds.
func TestTargetGroupLingers(t *testing.T) {
	w := startWorld(t, 2, "--group-release-delay=5s")
	before := w.state()
	w.controller()
	svc := w.create("web", useNetworkType, setPorts(80, 1140))
	w.update("web", setPorts(80, 1141))
	w.condition("web", status.TypeReplacing, metav1.ConditionTrue, status.ReasonReplacing)
	rules, err := w.nodeRules("")
	w.must(err)
	w.must(requireWords(fmt.Sprint(rules), "1140", "1141"))
	if n := w.committed("CreateTargetGroup") - w.committed("DeleteTargetGroup"); n != 2 {
		t.Errorf("%d target groups, want the new and the old one", n)
	}
	w.remove(svc)
	if warned := w.warnings("web"); len(warned) > 0 {
		t.Errorf("the user can do nothing: %q", warned)
	}
	w.asBefore(before)
}

// TestCloudIsDown answers nothing at all for a while.
func TestCloudIsDown(t *testing.T) {
	w := startWorld(t, 2)
	w.controller()
	kept := w.create("kept")
	w.arm(sim.Fault{Kind: sim.FaultError, Status: 503, Code: "ServiceUnavailable", Message: "Service is unavailable"})
	fresh := w.service("fresh", useNetworkType)
	w.must(w.Create(t.Context(), fresh))
	w.update("kept", setPorts(80, 1140))
	w.eventually("the user is told", func() error {
		if got := strings.Join(w.warnings("fresh"), "\n"); got == "" {
			return errors.New("no warning yet")
		}
		return nil
	})
	w.condition("fresh", status.TypeProgrammed, metav1.ConditionFalse, status.ReasonCloudUnavailable)
	if len(w.get("kept").Status.LoadBalancer.Ingress) == 0 {
		t.Error("an address was taken away because the cloud did not answer")
	}
	w.disarm()
	w.programmed(kept, fresh)
	w.becomes("kept", listenersOf, []string{"TCP:80>TCP:1140"})
	if warned := w.warnings("fresh"); len(warned) > 2 {
		t.Errorf("the same was told %d times: %q", len(warned), warned)
	}
}
