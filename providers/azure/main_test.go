package azure

import (
	"fmt"
	"os"
	"testing"

	simazure "github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestMain has the managed identity's endpoint, which any simulator will do for.
func TestMain(m *testing.M) {
	machine, err := simazure.New(simazure.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := virtual.Loopback(machine)
	for name, value := range map[string]string{"IDENTITY_ENDPOINT": server.URL + "/msi/token", "IDENTITY_HEADER": "any"} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	status := m.Run()
	server.Close()
	os.Exit(status)
}
