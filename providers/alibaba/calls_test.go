package alibaba_test

import (
	"testing"

	"github.com/berth-lb/berth/test/account"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
)

// TestCalls measures the calls of Services. A node is one write for each server group.
func TestCalls(t *testing.T) {
	opt := withNodes(4)
	opt.Limits = simalibaba.Limits{LoadBalancers: 200}
	goals := account.Goals{"create": {7.5, 7}, "touch": {0, 0}, "port": {3.2, 3}, "delnode": {3.1, 3}, "addnode": {3.1, 3}, "delete": {2.3, 2}}
	onAlibaba().Calls(t, opt, goals, nil)
}
