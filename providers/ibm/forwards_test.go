package ibm_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestFlowsAreForwards: the observed flows are the traffic that the simulator passes on.
func TestFlowsAreForwards(t *testing.T) {
	for name, list := range map[string][]props.Case{"application": allCases(), "network": networkCases(), "private path": pathCases()} {
		t.Run(name, func(t *testing.T) { onIBM().FlowsAreForwards(t, withNodes(3), list) })
	}
}
