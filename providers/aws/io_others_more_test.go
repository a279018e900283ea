package aws_test

import (
	"testing"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// release deletes everything that the Service has, in a process with empty caches.
func (s *sharing) release() {
	s.Helper()
	s.restart()
	for range 12 {
		d, err := s.r.Draft(s.Context(), reconcile.Job{Service: s.svc, Release: true})
		if err != nil {
			s.Fatal(err)
		}
		if s.r.Run(s.Context(), d, plan.OpenGates).Released {
			return
		}
		time.Sleep(time.Minute)
	}
	s.Error("not released after 12 rounds")
}

// TestOthersOfMembers: a Service on a load balancer with others names a Service as well as one
// that has its own, and moves with its groups.
func TestOthersOfMembers(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newSharing(t, "ip")
		s.settle(plan.OpenGates)
		s.svc.Annotations["berth-lb.io/load-balancer-group"] = "front"
		s.settle(plan.OpenGates)
		groups := s.groups()
		if len(groups) != 2 {
			t.Fatalf("groups are %v", groups)
		}
		if calls := s.settle(plan.OpenGates); len(calls) > 0 {
			t.Errorf("a process that knows nothing makes %v", calls)
		}
		s.other("green", s.pods(104, 105))
		s.settle(plan.OpenGates)
		for name, targets := range s.groups() {
			if len(targets) == 0 {
				t.Errorf("%s has no targets", name)
			}
		}
		delete(s.svc.Annotations, "berth-lb.io/load-balancer-group")
		s.settle(plan.OpenGates)
		s.expectTargets("back", s.officialName("green", "ip", 9090), "pod 104:9090")
		s.release()
		if groups := s.groups(); len(groups) > 0 {
			t.Errorf("left: %v", groups)
		}
	})
}

// TestOrphansOfOthers: the groups for other Services are found as leftovers of a deleted
// Service.
func TestOrphansOfOthers(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newSharing(t, "ip")
		s.settle(plan.OpenGates)
		s.restart()
		drafts, err := s.r.Orphans(t.Context(), providers.Live{})
		if err != nil || len(drafts) != 1 {
			t.Fatalf("%d orphans, %v", len(drafts), err)
		}
		if res := s.r.Run(t.Context(), drafts[0], plan.OpenGates); res.Err != nil {
			t.Error(res.Err)
		}
		if groups := s.groups(); len(groups) > 0 {
			t.Errorf("left: %v", groups)
		}
	})
}

// TestOthersWithTLS: a TLS listener sends TLS to another Service, or plain TCP with decrypt, and a
// port that two listeners send to has one group.
func TestOthersWithTLS(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newSharing(t, "ip")
		s.svc.Annotations["service.beta.kubernetes.io/aws-load-balancer-ssl-cert"] = certificate
		s.svc.Annotations["service.beta.kubernetes.io/actions.TLS-80"] = forwardAction("green")
		delete(s.svc.Annotations, actions80)
		s.settle(plan.OpenGates)
		s.expectProtocol("TLS")
		s.svc.Annotations["service.beta.kubernetes.io/actions.TLS-80"] = forwardAction(`{"serviceName":"green","servicePort":8000,"decrypt":true}`)
		s.settle(plan.OpenGates)
		s.expectProtocol("TCP")
		if calls := s.settle(plan.OpenGates); len(calls) > 0 {
			t.Errorf("a process that knows nothing makes %v", calls)
		}
	})
}
