package cluster

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// startWithin bounds a start that has to compile everything on a slow machine.
const startWithin = 20 * time.Minute

// Shared is one control plane for all tests of a package. It starts with the first
// test that asks for it. A test package has one as a variable; its zero value is
// ready.
type Shared struct {
	// Options are those of the control plane.
	Options Options

	once    sync.Once
	cluster *Cluster
	err     error
}

// Main runs the tests, stops the control plane and exits. It is to be the only
// statement of TestMain. Without it the control plane ends a second after the
// tests.
func (s *Shared) Main(m *testing.M) {
	code := m.Run()
	if s.cluster != nil {
		if err := s.cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// Cluster returns the control plane and starts it on the first call. The test fails at once
// when it does not start. Cluster-wide objects, such as Nodes, are shared by the tests; a
// test that needs them alone must not be parallel.
func (s *Shared) Cluster(t testing.TB) *Cluster {
	t.Helper()
	// The context of the first test must not bound a cluster that others use.
	s.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startWithin)
		defer cancel()
		s.cluster, s.err = Start(ctx, s.Options)
	})
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.cluster
}
