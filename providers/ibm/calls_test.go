package ibm_test

import (
	"testing"
	"time"

	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/sim"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
)

// TestCalls measures the calls of Services whose load balancers are busy for 30 s after each
// write. A token and the resource group serve all Services. A node is one write for each pool.
func TestCalls(t *testing.T) {
	opt := withNodes(4)
	opt.Busy, opt.Limits = 30*time.Second, simibm.Limits{LoadBalancers: 200}
	goals := account.Goals{"create": {1.4, 1}, "touch": {0, 0}, "port": {2.6, 2}, "delnode": {3.7, 3}, "addnode": {3.7, 3}, "delete": {1.4, 1}}
	onIBM().Calls(t, opt, goals, func(e sim.Entry) bool { return e.Service == "vpc" })
}
