package account

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/props"
)

// Orphans serves two Services of which the cluster has lost one. The load balancer of that one
// is listed under this owner, with so many resources and a proof, and nothing else is.
func (c Cloud[O, S]) Orphans(t *testing.T, opt O, lost *corev1.Service, owner string, resources int) {
	t.Helper()
	w := c.Begin(t, opt)
	live := props.Service("web", nil).Service
	live.Name, live.UID = "live", UID(8)
	w.Serve(lost)
	w.Serve(live)
	found, err := w.Open(t).Orphans(t.Context(), providers.Live{Services: []stack.Owner{{Namespace: live.Namespace, Name: live.Name, UID: string(live.UID)}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Owner.UID != owner || len(found[0].Resources) != resources {
		t.Errorf("found %+v", found)
	}
	for _, s := range found {
		for _, r := range s.Resources {
			if r.In == (stack.Key{}) && r.Ownership == stack.Owned && r.Proof == stack.None {
				t.Errorf("%+v has no proof", r)
			}
		}
	}
}
