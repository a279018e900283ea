package simtest

import (
	"fmt"
	"os"
	"testing"
)

// Main runs the tests of a package without the machine's own bundle of roots, which every
// session would read and the simulators have no use for, and returns the status to exit with.
func Main(m *testing.M) int {
	if err := os.Unsetenv("AWS_CA_BUNDLE"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
