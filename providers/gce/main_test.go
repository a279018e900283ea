package gce

import (
	"fmt"
	"os"
	"strings"
	"testing"

	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestMain has the metadata server that tokens come from, which any simulator will do for.
func TestMain(m *testing.M) {
	machine, err := simgce.New(simgce.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := virtual.Loopback(machine)
	if err := os.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(server.URL, "http://")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	server.Close()
	os.Exit(status)
}
