package model_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
)

// TestKeepServing: the backends of a Service that cannot be built follow the nodes if they
// are nodes, and stay if they are pods.
func TestKeepServing(t *testing.T) {
	node := func(name, address string) nodeports.Node {
		return nodeports.Node{Name: name, ProviderID: "oci://" + name, Internal: []netip.Addr{netip.MustParseAddr(address)}}
	}
	var in model.Input
	in.Backends.Nodes = nodeports.Select([]nodeports.Node{node("b", "10.0.0.2"), node("c", "10.0.0.3")}, nodeports.Filter{})
	for name, c := range map[string]struct{ found, want []string }{
		"nodes":               {[]string{"10.0.0.1", "10.0.0.2"}, []string{"10.0.0.2", "10.0.0.3"}},
		"pods":                {[]string{"10.0.129.8", "10.0.129.9"}, []string{"10.0.129.8", "10.0.129.9"}},
		"no backends at all":  {nil, nil},
		"the nodes, as found": {[]string{"10.0.0.2", "10.0.0.3"}, []string{"10.0.0.2", "10.0.0.3"}},
	} {
		var set model.BackendSet
		for _, address := range c.found {
			set.Backends = append(set.Backends, model.Backend{Address: address, Port: 8080, Weight: 1})
		}
		have := &stack.Stack{Resources: []stack.Resource{{Key: stack.Key{Kind: model.KindSet, Name: "TCP-80"}, Proof: stack.Name, Spec: set}}}
		kept := model.KeepServing(in, nil, have)
		spec, _ := kept.Resources[0].Spec.(model.BackendSet)
		var got []string
		for _, b := range spec.Backends {
			got = append(got, b.Address)
		}
		slices.Sort(got)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
