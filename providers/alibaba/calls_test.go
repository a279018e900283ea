package alibaba_test

import (
	"testing"
	"time"

	"github.com/berth-lb/berth/test/account"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
)

// TestCalls measures the calls of Services. A node is one write for each server group.
func TestCalls(t *testing.T) {
	opt := withNodes(4)
	opt.Limits = simalibaba.Limits{LoadBalancers: 200}
	goals := account.Goals{"create": {7.5, 7}, "touch": {0, 0}, "port": {3.2, 3}, "delnode": {3.1, 3}, "addnode": {3.1, 3}, "delete": {2.2, 2}}
	onAlibaba().Calls(t, opt, goals, nil)
}

// TestRates: at 15 calls of each action a second, Services take little longer than these calls.
func TestRates(t *testing.T) {
	opt := withNodes(4)
	opt.Limits = simalibaba.Limits{LoadBalancers: 200}
	onAlibaba().Rates(t, opt, 100)
}

// TestNetRates: the same holds for network load balancers, whose jobs take eight seconds.
func TestNetRates(t *testing.T) {
	opt := withNodes(4)
	opt.Jobs, opt.Provision, opt.Limits = 8*time.Second, 8*time.Second, simalibaba.Limits{LoadBalancers: 200}
	onNet().Rates(t, opt, 100)
}
