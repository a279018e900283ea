package gce_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestNodesOnly: no EndpointSlice, whichever client has written it, leads traffic to a
// pod past the ports of nodes.
func TestNodesOnly(t *testing.T) { props.NodesOnly(t, newSubject(""), propsCases()) }
