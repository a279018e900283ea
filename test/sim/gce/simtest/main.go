package simtest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Main runs the tests of a package with the metadata server that tokens come from,
// which any simulated project will do for, and returns the status to exit with.
func Main(m *testing.M) int {
	machine, err := gce.New(gce.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	server := virtual.Loopback(machine)
	defer server.Close()
	if err := os.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(server.URL, "http://")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
