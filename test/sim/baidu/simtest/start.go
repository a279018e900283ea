package simtest

import (
	"testing"

	simbaidu "github.com/berth-lb/berth/test/sim/baidu"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Running is a simulator that serves until the test ends.
type Running struct {
	URL   string
	Cloud *simbaidu.Cloud
}

// Start serves a new cloud in memory.
func Start(t testing.TB, opt simbaidu.Options) *Running {
	t.Helper()
	cloud := virtual.Fresh(t, simbaidu.New, opt)
	return &Running{URL: virtual.Start(t, cloud), Cloud: cloud}
}
