package oci_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestNodesOnly verifies that no EndpointSlice, whatever its author, directs traffic to a
// pod other than through node ports.
func TestNodesOnly(t *testing.T) { props.NodesOnly(t, newSubject, propsCases()) }
