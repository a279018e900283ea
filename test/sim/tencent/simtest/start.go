package simtest

import (
	"testing"

	simtencent "github.com/berth-lb/berth/test/sim/tencent"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Running is a simulator that serves until the test ends.
type Running struct {
	URL   string
	Cloud *simtencent.Cloud
}

// Start serves a new cloud in memory.
func Start(t testing.TB, opt simtencent.Options) *Running {
	t.Helper()
	cloud := virtual.Fresh(t, simtencent.New, opt)
	return &Running{URL: virtual.Start(t, cloud), Cloud: cloud}
}
