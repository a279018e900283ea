package baidu_test

import (
	"testing"
	"time"

	"github.com/berth-lb/berth/test/account"
	simbaidu "github.com/berth-lb/berth/test/sim/baidu"
)

// TestCalls measures the calls of Services while each write takes three seconds.
func TestCalls(t *testing.T) {
	opt := withNodes(4)
	opt.Busy, opt.Limits = 3*time.Second, simbaidu.Limits{LoadBalancers: 200}
	goals := account.Goals{"create": {15, 10}, "touch": {0, 0}, "port": {4.6, 3}, "delnode": {1.8, 1}, "addnode": {1.8, 1}, "delete": {4.8, 3}}
	onBaidu().Calls(t, opt, goals, nil)
}
