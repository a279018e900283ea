package aws

import (
	"fmt"
	"os"
	"testing"
)

// TestMain takes the machine's own bundle of roots out of the environment: every session
// would read it, and the simulators have no use for one.
func TestMain(m *testing.M) {
	if err := os.Unsetenv("AWS_CA_BUNDLE"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
