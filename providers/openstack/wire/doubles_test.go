package wire

import (
	"slices"
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
)

// TestRecordedGroupStays: of two security groups of one Service the one that ports have stays, also if the other one is
// older. Without ports the older one stays. The order of the list means nothing.
func TestRecordedGroupStays(t *testing.T) {
	older := item[model.Group]{ID: "b", Created: "2026-01-01T00:00:00Z", Spec: model.Group{Name: "lb-sg-web"}}
	younger := item[model.Group]{ID: "a", Created: "2026-01-02T00:00:00Z", Spec: model.Group{Name: "lb-sg-web"}}
	for want, ports := range map[string]map[string][]string{"b": nil, "a": {"a": {"port"}}} {
		for _, list := range [][]item[model.Group]{{older, younger}, {younger, older}} {
			f := &finder{view: &view{groups: list, groupPorts: ports}, out: &stack.Stack{}}
			if err := f.groups("lb-sg-web"); err != nil {
				t.Fatal(err)
			}
			kept, _ := f.out.Get(stack.Key{Kind: model.KindGroup})
			if n := len(f.out.Of(model.KindGroup)); kept.ID != want || n != 2 {
				t.Errorf("%s of %d stays, want %s", kept.ID, n, want)
			}
		}
	}
}

// TestRecordedAddressStays: of two unbound floating IPs of one Service the one of its status stays, or else the older
// one.
func TestRecordedAddressStays(t *testing.T) {
	list := []floatingIP{
		{ID: "a", Created: "2026-01-02T00:00:00Z", Spec: model.FloatingIP{Address: "192.0.2.2", Description: "for web"}},
		{ID: "b", Created: "2026-01-01T00:00:00Z", Spec: model.FloatingIP{Address: "192.0.2.1", Description: "for web"}},
	}
	for want, addresses := range map[string][]string{"b": nil, "a": {"192.0.2.2"}} {
		f := &finder{view: &view{floating: list}, scope: providers.Scope{Addresses: addresses}, out: &stack.Stack{}}
		f.floating(candidates{}, "for web", false)
		kept, _ := f.out.Get(stack.Key{Kind: model.KindFloatingIP})
		if n := len(f.out.Of(model.KindFloatingIP)); kept.ID != want || n != 2 || !slices.ContainsFunc(f.out.Resources, func(r stack.Resource) bool { return providers.IsDuplicate(r.Key) }) {
			t.Errorf("%s of %d stays, want %s", kept.ID, n, want)
		}
	}
}
