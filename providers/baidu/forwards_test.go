package baidu_test

import "testing"

// TestFlowsAreForwards: the observed flows are the traffic that the simulator passes on.
func TestFlowsAreForwards(t *testing.T) {
	onBaidu().FlowsAreForwards(t, withNodes(3), append(allCases()[:2], allCases()[4:6]...))
}
