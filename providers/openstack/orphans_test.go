package openstack_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/props"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestOrphans verifies that remains of deleted Services are listed and deleted, on their
// own load balancers and on shared ones. Resources of existing Services are retained, and
// so are the ones of another cluster of the same name, which has other nodes.
func TestOrphans(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{Seed: simopenstack.SeedOptions{Nodes: 4}}, managed)
		all := w.nodes
		w.nodes = all[:2]
		w.restart()
		host := namedService("host", 8000)
		w.serve(host)
		before := w.portrait()

		other := *w
		other.nodes = all[2:]
		other.restart()
		foreign := namedService("foreign", 8100)
		other.serve(foreign)
		with := w.portrait()

		gone, guest, again := namedService("gone", 9000), namedService("guest", 9100), namedService("host", 8000)
		w.serve(gone)
		guest.Annotations = map[string]string{idKey: host.Annotations[idKey]}
		w.serve(guest)
		again.UID = "00000000-0000-4000-8000-00000000abcd"
		w.serve(again) // as if deleted without a controller, and recreated
		w.serve(host)

		live := providers.Live{Services: []stack.Owner{{Namespace: host.Namespace, Name: host.Name, UID: string(host.UID)}}, Nodes: w.nodes}
		w.restart()
		var owners []string
		for _, owner := range props.Sweep(t, w.process, live) {
			owners = append(owners, owner.String())
		}
		slices.Sort(owners)
		if d := cmp.Diff([]string{"shop/gone", "shop/guest", "shop/host"}, owners); d != "" {
			t.Errorf("orphans (-want +got):\n%s", d)
		}
		if d := diffLines(with, w.portrait()); d != "" {
			t.Errorf("besides the orphans something has changed:\n%s", d)
		}
		live.Services = nil
		if drafts, err := w.process.Orphans(t.Context(), live); err != nil || len(drafts) != 1 {
			t.Errorf("%d orphans where one Service was forgotten, %v", len(drafts), err)
		}
		other.release(foreign)
		if d := diffLines(before, w.portrait()); d != "" {
			t.Errorf("the other cluster has left something: %s", fmt.Sprint(d))
		}
	})
}
