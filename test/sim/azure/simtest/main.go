package simtest

import (
	"fmt"
	"os"
	"testing"

	"github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Main runs the tests of a package with the endpoint of managed identities, which any
// simulated cloud will do for, and returns the status to exit with.
func Main(m *testing.M) int {
	machine, err := azure.New(azure.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	server := virtual.Loopback(machine)
	defer server.Close()
	for name, value := range map[string]string{"IDENTITY_ENDPOINT": server.URL + "/msi/token", "IDENTITY_HEADER": "any"} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}
