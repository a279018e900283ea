package simtest

import (
	"testing"

	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Running is a simulator that serves until the test ends.
type Running struct {
	URL   string
	Cloud *simopenstack.Cloud
}

// Start serves a new cloud in memory.
func Start(t testing.TB, opt simopenstack.Options) *Running {
	t.Helper()
	cloud := virtual.Fresh(t, simopenstack.New, opt)
	return &Running{URL: virtual.Start(t, cloud), Cloud: cloud}
}

// StartLoopback serves a new cloud on a free port, for clients that make their own
// connections.
func StartLoopback(t testing.TB, opt simopenstack.Options) *Running {
	t.Helper()
	cloud := virtual.Fresh(t, simopenstack.New, opt)
	return &Running{URL: virtual.StartLoopback(t, cloud), Cloud: cloud}
}
