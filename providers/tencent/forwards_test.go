package tencent_test

import "testing"

// TestFlowsAreForwards: the observed flows are the traffic that the simulator passes on.
func TestFlowsAreForwards(t *testing.T) { onTencent().FlowsAreForwards(t, withNodes(3), allCases()) }
