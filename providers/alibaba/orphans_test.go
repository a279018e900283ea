package alibaba_test

import (
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/props"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
)

// TestOrphans: the load balancer of a Service that the cluster does not have is listed, and
// that of another one is not. Its parts are deleted with it.
func TestOrphans(t *testing.T) {
	w := beginWorld(t, simalibaba.Options{Seed: simalibaba.SeedOptions{Nodes: 3}})
	lost, live := props.Service("web", nil).Service, props.Service("web", nil).Service
	live.Name, live.UID = "live", uidOf(8)
	w.serve(lost)
	w.serve(live)
	found, err := w.Open(t).Orphans(t.Context(), providers.Live{Services: []stack.Owner{{Namespace: "shop", Name: "live", UID: string(live.UID)}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Owner.UID != "5a0c1f6e000040008000000000000001"[:31] || len(found[0].Resources) != 1 {
		t.Errorf("found %+v", found)
	}
	for _, s := range found {
		if lb, ok := s.Get(stack.Key{Kind: "load-balancer"}); !ok || lb.Proof == stack.None {
			t.Errorf("%+v has no proof", lb)
		}
	}
}
