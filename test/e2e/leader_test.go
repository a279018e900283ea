package e2e

import (
	"errors"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

const (
	leaseNamespace = "kube-system"
	leaseName      = "cloud-controller-manager"
)

// electionFlags returns the flags of a replica, faster than the defaults.
func electionFlags() []string {
	return []string{
		"--leader-elect=true", "--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=1s",
	}
}

// dropLease lets the next test elect without waiting.
func (w *world) dropLease() {
	w.t.Helper()
	err := w.Client.CoordinationV1().Leases(leaseNamespace).Delete(w.t.Context(), leaseName, metav1.DeleteOptions{})
	if err != nil {
		w.t.Logf("lease: %v", err)
	}
}

// holder returns the holder of the Lease.
func (w *world) holder() string {
	lease, err := w.Client.CoordinationV1().Leases(leaseNamespace).Get(w.t.Context(), leaseName, metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// TestLeaderIsKilled kills the leader of two replicas in the middle of its work.
func TestLeaderIsKilled(t *testing.T) {
	const n = 20
	w := startWorld(t, 3, "--quota-factor=3")
	before := w.state()
	leader := w.controller(electionFlags()...)
	w.eventually("a leader", func() error {
		if w.holder() == "" {
			return errors.New("the lease has no holder")
		}
		return nil
	})
	first := w.holder()
	second := w.controller(electionFlags()...)
	w.slowWrites()
	fleet := w.fleet(n)
	meter := w.meter()
	w.must(w.Create(t.Context(), fleet...))
	w.killAfter(leader, meter, 30)
	if w.Programmed(fleet...)(t.Context()) == nil {
		t.Fatal("everything was done: nothing was interrupted")
	}
	w.programmed(fleet...)
	if now := w.holder(); now == first {
		t.Errorf("%s still leads although it was killed", now)
	}
	if !second.Running() {
		t.Error("the second replica has ended")
	}
	w.onceEach(n)
	w.remove(fleet...)
	w.must(w.Sim.Disarm(t.Context()))
	w.asBefore(before)
	w.dropLease()
}

// TestFollowerIsQuiet lets two replicas run over the same work: only the leader
// talks to the cloud or to users.
func TestFollowerIsQuiet(t *testing.T) {
	w := startWorld(t, 2)
	w.controller(electionFlags()...)
	follower := w.controller(electionFlags()...)
	fleet := w.fleet(4)
	w.must(w.Create(t.Context(), fleet...))
	w.programmed(fleet...)
	w.settled(w.meter())
	w.onceEach(4)
	for _, svc := range fleet {
		if got := countOf(w.events(svc.Name), "EnsuringLoadBalancer"); got != 1 {
			t.Errorf("%s: want one replica to begin, got %d: %q", svc.Name, got, w.events(svc.Name))
		}
	}
	if !follower.Running() {
		t.Error("the follower has ended")
	}
	w.dropLease()
}

// TestStopFinishesCalls asks the controller to stop while calls are in flight:
// they finish, what they did is known, and nothing is done twice afterwards.
func TestStopFinishesCalls(t *testing.T) {
	w := startWorld(t, 2)
	w.must(w.Sim.Arm(t.Context(), sim.Fault{Kind: sim.FaultLatency, Operation: "CreateLoadBalancer", Latency: time.Second}))
	controller := w.controller()
	fleet := w.fleet(4)
	w.must(w.Create(t.Context(), fleet...))
	w.eventually("the first writes", func() error {
		if w.committed("CreateSecurityGroup") == 0 {
			return errors.New("none yet")
		}
		return nil
	})
	if err := controller.Stop(limit); err != nil {
		t.Errorf("asked to stop: %v", err)
	}
	for _, e := range w.written(0) {
		if !e.Committed {
			t.Errorf("%s was broken off: status %d", e.Operation, e.Status)
		}
	}
	made := w.committed("CreateLoadBalancer")
	all, err := w.balancers()
	w.must(err)
	if made == 0 || made != len(all) {
		t.Errorf("%d calls created %d load balancers before the stop, want as many, and some", made, len(all))
	}
	w.must(w.Sim.Disarm(t.Context()))
	w.controller()
	w.programmed(fleet...)
	w.onceEach(len(fleet))
	if err := harness.Eventually(t.Context(), limit, w.Programmed(fleet...)); err != nil {
		t.Error(fmt.Errorf("after the stop: %w", err))
	}
}
