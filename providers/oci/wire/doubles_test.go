package wire

import (
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
)

// TestRecordedBalancerStays: of two load balancers of one Service the one with the address of the status stays, also if
// the other one is older. Without a status the older one stays.
func TestRecordedBalancerStays(t *testing.T) {
	product, _ := model.ProductOf(model.KindBalancer)
	at := place{model.KindBalancer, "compartment"}
	docs := []balancerDoc{
		{ID: "older", Name: "web", State: active, Created: "2026-01-01T00:00:00Z", Addresses: []addressDoc{{IP: "192.0.2.1"}}},
		{ID: "younger", Name: "web", State: active, Created: "2026-01-02T00:00:00Z", Addresses: []addressDoc{{IP: "192.0.2.2"}}},
	}
	for want, addresses := range map[string][]string{"older": nil, "younger": {"192.0.2.2"}} {
		f := &finder{view: &view{balancers: map[place][]balancerDoc{at: docs}}, scope: providers.Scope{Addresses: addresses}, out: &stack.Stack{}}
		if err := f.balancers(product, providers.Lookup{Kind: at.kind, By: at.compartment, Value: "web"}, false); err != nil {
			t.Fatal(err)
		}
		kept, _ := f.out.Get(stack.Key{Kind: model.KindBalancer})
		if n := len(f.out.Of(model.KindBalancer)); kept.ID != want || n != 2 {
			t.Errorf("%s of %d stays, want %s", kept.ID, n, want)
		}
	}
}

// TestRecordedGroupStays: of two security groups of one Service the one that its load balancer is in stays, also if the
// other one is older. Without a load balancer the older one stays. The order of the list means nothing.
func TestRecordedGroupStays(t *testing.T) {
	tags := model.GroupTags(stack.Owner{UID: "uid"})
	older, younger := groupDoc{ID: "b", Created: "2026-01-01T00:00:00Z", Tags: tags}, groupDoc{ID: "a", Created: "2026-01-02T00:00:00Z", Tags: tags}
	lookup := providers.Lookup{Kind: model.KindGroup, By: "compartment", Value: "uid"}
	for want, joined := range map[string][]string{"b": nil, "a": {"a", "another"}} {
		for _, list := range [][]groupDoc{{older, younger}, {younger, older}} {
			f := &finder{view: &view{groups: map[string][]groupDoc{lookup.By: list}}, scope: providers.Scope{Own: []providers.Lookup{lookup}}, out: &stack.Stack{}}
			f.out.Put(stack.Resource{Key: stack.Key{Kind: model.KindBalancer}, Spec: model.Balancer{Groups: joined}})
			f.find()
			kept, _ := f.out.Get(stack.Key{Kind: model.KindGroup})
			if n := len(f.out.Of(model.KindGroup)); kept.ID != want || n != 2 || f.own != want {
				t.Errorf("%s of %d stays, want %s", kept.ID, n, want)
			}
		}
	}
}
