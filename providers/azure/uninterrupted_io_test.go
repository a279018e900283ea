package azure_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestUninterrupted: clients of a changed Service are served whatever Azure refuses, also where
// nothing waits for the status, as in a plugin. TestLaws has pools of addresses.
func TestUninterrupted(t *testing.T) {
	start := newSubject(simazure.SeedOptions{Nodes: 3, Pools: simazure.NodeNIC})
	public, internal := serviceCase("public", nil, nil), serviceCase("internal", map[string]string{"load-balancer-internal": "true"}, nil)
	deny := serviceCase("deny", map[string]string{
		"load-balancer-internal": "true", "allowed-ip-ranges": "10.2.0.0/16", "deny-all-except-load-balancer-source-ranges": "true",
	}, nil)
	props.Uninterrupted(t, start, public, internal)
	props.Uninterrupted(t, start, internal, public)
	props.Uninterrupted(t, start, public, props.Renumbered(public))
	props.Uninterrupted(t, start, internal, props.Renumbered(deny))
	props.Uninterrupted(t, start, deny, props.Renumbered(internal))
}
