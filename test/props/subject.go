package props

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/test/sim"
)

// Subject is one fresh cloud.
type Subject interface {
	// Open makes a new session, as a process that starts does.
	Open(t testing.TB) providers.Bound
	// Nodes are the machines of the cloud.
	Nodes() []nodeports.Node
	// Control is the simulator's journal and faults.
	Control() *sim.Control
}

// Podded is a Subject whose load balancers send to pods.
type Podded interface {
	// Slices are the endpoints of a Service.
	Slices(svc *corev1.Service) []*discoveryv1.EndpointSlice
}

// Referring is a Subject whose Services refer to objects of the cluster.
type Referring interface {
	// Objects returns the known state of those references.
	Objects() map[providers.Reference]providers.Object
}

// Roled is a Subject whose cloud can judge calls by a role.
type Roled interface {
	// SetRole judges by a role as docs/permissions has it; nil lets everything be done.
	SetRole(t testing.TB, role []byte)
}

// Role reads the role of a cloud in docs/permissions, from the folder of a provider.
func Role(t testing.TB, file string) []byte {
	t.Helper()
	body, err := os.ReadFile("../../docs/permissions/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// slicesOf are the endpoints of a Service; none where a cloud does not ask for them.
func slicesOf(s Subject, svc *corev1.Service) []*discoveryv1.EndpointSlice {
	if p, ok := s.(Podded); ok {
		return p.Slices(svc)
	}
	return nil
}

// objectsOf are what Services refer to; none where a cloud does not ask for them.
func objectsOf(s Subject) map[providers.Reference]providers.Object {
	if r, ok := s.(Referring); ok {
		return r.Objects()
	}
	return nil
}

// New makes a fresh cloud for one test.
type New func(t testing.TB) Subject

// Case is a Service, as the API server would have completed it, with its UID.
type Case struct {
	Name    string
	Service *corev1.Service
}

// cloudState returns everything in the cloud, as comparable text.
func cloudState(t testing.TB, s Subject) string {
	t.Helper()
	return State(t, s.Control())
}

// State is StateOf without an error.
func State(t testing.TB, c *sim.Control) string {
	t.Helper()
	out, err := StateOf(c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// StateOf returns everything in a simulated cloud, as comparable text. Counters from
// which identifiers are made, and marks that count writes, are no state.
func StateOf(c *sim.Control) (string, error) {
	body, err := json.Marshal(c.State())
	if err != nil {
		return "", fmt.Errorf("state: %w", err)
	}
	var tree any
	if err := json.Unmarshal(body, &tree); err != nil {
		return "", fmt.Errorf("state: %w", err)
	}
	Drop(tree, "Seq", "revision_number", "updated_at", "etag")
	out, err := json.MarshalIndent(tree, "", " ")
	return string(out), err
}

// Drop takes fields of these names out of a tree of JSON.
func Drop(tree any, fields ...string) {
	switch v := tree.(type) {
	case map[string]any:
		for _, field := range fields {
			delete(v, field)
		}
		for _, child := range v {
			Drop(child, fields...)
		}
	case []any:
		for _, child := range v {
			Drop(child, fields...)
		}
	}
}

// Judge has a cloud judge by a role that it parses, or by none.
func Judge[R any](t testing.TB, role []byte, parse func([]byte) (R, error), set func(R)) {
	t.Helper()
	var parsed R
	if role != nil {
		var err error
		if parsed, err = parse(role); err != nil {
			t.Fatal(err)
		}
	}
	set(parsed)
}
