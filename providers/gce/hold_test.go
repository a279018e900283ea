package gce_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestHoldNeverLeaks: a change that replaces a live rule is interrupted at every writing
// call in turn, before or after the cloud has done it, permanently or once. The next run
// completes; the IP is the same, and no address is left that would keep costing money.
func TestHoldNeverLeaks(t *testing.T) {
	port := func(s *corev1.ServiceSpec) { s.Ports[1].Port = 8443 }
	changes := []struct {
		class  string
		name   string
		before []func(*corev1.ServiceSpec)
		after  func(*corev1.ServiceSpec)
	}{
		{"l4-regional-external-legacy", "affinity", nil, useClientAffinity},
		{"l4-regional-external", "port", nil, port},
		{"l4-regional-external", "mixed", nil, mixProtocols},
		{"l4-regional-external", "one protocol", []func(*corev1.ServiceSpec){mixProtocols}, func(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolTCP }},
		{"l4-regional-internal-legacy", "protocol", nil, props.UDP},
		{"l4-regional-internal", "protocol", nil, props.UDP},
	}
	begin := newSubject("")
	for _, c := range changes {
		for _, fault := range []sim.Fault{
			{Kind: sim.FaultError, Status: http.StatusForbidden, Code: "AccessDenied"},       // it dies before the call
			{Kind: sim.FaultCutAfter, Count: 1},                                              // the answer gets lost
			{Kind: sim.FaultError, Count: 1, Status: http.StatusBadRequest, Code: "invalid"}, // refused once
		} {
			t.Run(fmt.Sprintf("%s/%s/%s/%s", c.class, c.name, fault.Kind, fault.Code), func(t *testing.T) {
				t.Parallel()
				virtual.Test(t, func(t *testing.T) {
					for k := 0; heldThrough(t, begin, serviceCase("web", c.class, nil, c.before...).Service, c.after, fault, k); k++ {
						if k > 30 {
							t.Fatal("no end of calls")
						}
					}
				})
			})
		}
	}
}

// heldThrough creates a Service, changes it with a fault after k calls, and lets the
// same process and then a new one continue. It reports whether the fault was met.
func heldThrough(t *testing.T, begin props.New, svc *corev1.Service, change func(*corev1.ServiceSpec), fault sim.Fault, k int) bool {
	t.Helper()
	s, ok := begin(t).(subject)
	if !ok {
		t.Fatal("not the subject of this package")
	}
	m := &mover{T: t, s: s, svc: svc}
	r := m.process()
	m.converge(r)
	ip := m.svc.Status.LoadBalancer.Ingress
	change(&m.svc.Spec)
	s.Control().Journal.Reset()
	fault.WritesOnly, fault.After = true, k
	if _, err := s.Control().Faults.Add(fault); err != nil {
		t.Fatal(err)
	}
	_, _ = m.work(r, false) // it is meant to fail
	if fault.Count == 0 {
		s.Control().Faults.Clear()
		r = m.process() // the first one has died
	}
	m.converge(r)
	met := s.Control().Journal.Writes() > k
	s.Control().Faults.Clear()
	if now := m.svc.Status.LoadBalancer.Ingress; !slices.EqualFunc(ip, now, func(a, b corev1.LoadBalancerIngress) bool { return a.IP == b.IP }) {
		t.Errorf("fault after %d calls: the IP was %v and is %v", k, ip, now)
	}
	d, err := m.process().Draft(t.Context(), reconcile.Job{Service: m.svc})
	if err != nil {
		t.Fatal(err)
	}
	if !d.Plan.Empty() {
		t.Errorf("fault after %d calls: %d steps are left", k, len(d.Plan.Steps))
	}
	if left := d.Have.Of("address"); len(left) > 0 {
		t.Errorf("fault after %d calls: addresses are left: %v", k, left)
	}
	return met
}
