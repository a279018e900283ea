package azure_test

import (
	"testing"

	"github.com/berth-lb/berth/providers/azure"
	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestNamesRefused verifies that a policy that lets nothing be named holds while a process runs.
func TestNamesRefused(t *testing.T) {
	start := newSubject(simazure.SeedOptions{Nodes: 3, DualStack: true})
	props.NamesRefused(t, start, azure.Cloud().Annotations, serviceCase("public", nil, nil), serviceCase("internal", map[string]string{"load-balancer-internal": "true"}, nil))
}
