package alibaba_test

import "testing"

// TestFlowsAreForwards: the flows of what is read are what the simulator passes on.
func TestFlowsAreForwards(t *testing.T) { onAlibaba().FlowsAreForwards(t, withNodes(3), allCases()) }
