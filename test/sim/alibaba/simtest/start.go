package simtest

import (
	"testing"

	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Running is a simulator that serves until the test ends.
type Running struct {
	URL   string
	Cloud *simalibaba.Cloud
}

// Start serves a new cloud in memory.
func Start(t testing.TB, opt simalibaba.Options) *Running {
	t.Helper()
	cloud := virtual.Fresh(t, simalibaba.New, opt)
	return &Running{URL: virtual.Start(t, cloud), Cloud: cloud}
}
