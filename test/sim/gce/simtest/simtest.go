package simtest

import (
	"net/http"
	"testing"

	"google.golang.org/api/option"

	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Running is a simulator that serves until the test ends.
type Running struct {
	URL   string
	Cloud *simgce.Cloud
}

// Start serves a new cloud in memory.
func Start(t testing.TB, opt simgce.Options) *Running {
	t.Helper()
	cloud := virtual.Fresh(t, simgce.New, opt)
	return &Running{URL: virtual.Start(t, cloud), Cloud: cloud}
}

// StartLoopback serves a new cloud on a free port, for clients that make their own
// connections, as those of the metadata server do.
func StartLoopback(t testing.TB, opt simgce.Options) *Running {
	t.Helper()
	cloud := virtual.Fresh(t, simgce.New, opt)
	return &Running{URL: virtual.StartLoopback(t, cloud), Cloud: cloud}
}

// newClient returns an option without credentials. The transport that the SDK makes opens
// connections, which a simulator in memory does not take.
func newClient() option.ClientOption {
	return option.WithHTTPClient(&http.Client{Transport: virtual.Transport()})
}

// Options are for the clients of cloud.google.com/go/compute/apiv1, which add
// the path of the API themselves.
func (r *Running) Options() []option.ClientOption {
	return []option.ClientOption{option.WithEndpoint(r.URL), newClient()}
}

// Plain are the options for google.golang.org/api/compute/v1.
func (r *Running) Plain() []option.ClientOption {
	return []option.ClientOption{option.WithEndpoint(r.URL + "/compute/v1/"), newClient()}
}
