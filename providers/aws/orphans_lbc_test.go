package aws_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/props"
)

// TestOrphansController: leftovers of Services of the kind nlb-lbc are found by their
// tags: load balancers of their own, parts of those of groups, and parts of those of
// others. Resources of living Services stay, and shared ones are deleted with the last
// Service.
func TestOrphansController(t *testing.T) {
	setCredentials(t)
	inWorld(t, func(w *groupWorld) {
		createUserBalancer(w, w.s, "edge", w.s.running.Cloud.Seed.DefaultGroup)
		waitUsable()
		before := w.state()
		own, first, second, lent, lives := groupMember(0, "", 80), groupMember(1, "front", 80), groupMember(2, "front", 443), balancerClient(3, "edge", 80), groupMember(4, "front", 25)
		all := []*corev1.Service{own, first, second, lent, lives}
		for _, svc := range all {
			w.good(svc)
		}
		was := balancerParts(w.has(lives))
		if got := w.sweep(all...); len(got) > 0 {
			w.Errorf("all live, and orphans are %v", got)
		}
		if diff := cmp.Diff([]string{"shop/web-0", "shop/web-1", "shop/web-2", "shop/web-3"}, w.sweep(lives)); diff != "" {
			w.Errorf("orphans (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(was, balancerParts(w.has(lives))); diff != "" {
			w.Errorf("who lives lost something (-before +after):\n%s", diff)
		}
		if got := w.sweep(lives); len(got) > 0 {
			w.Errorf("after all are removed, orphans are %v", got)
		}
		if diff := cmp.Diff([]string{"shop/web-4"}, w.sweep()); diff != "" {
			w.Errorf("orphans (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(before, w.state()); diff != "" {
			w.Errorf("something is left (-before +after):\n%s", diff)
		}
	})
}

// sweep removes what belongs to none of the Services, as berth orphans does, and returns
// whose it was.
func (w *groupWorld) sweep(live ...*corev1.Service) []string {
	w.Helper()
	w.live = live
	w.restart()
	var owners []stack.Owner
	for _, svc := range live {
		owners = append(owners, stack.Owner{Namespace: svc.Namespace, Name: svc.Name, UID: string(svc.UID)})
	}
	var out []string
	for _, owner := range props.Sweep(w, w.r, providers.Live{Services: owners}) {
		out = append(out, owner.String())
	}
	slices.Sort(out)
	return out
}
