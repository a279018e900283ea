package props

import (
	"encoding/json"
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

// slicesOf are the endpoints of a Service; none where a cloud does not ask for them.
func slicesOf(s Subject, svc *corev1.Service) []*discoveryv1.EndpointSlice {
	if p, ok := s.(Podded); ok {
		return p.Slices(svc)
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

// state is everything in the cloud, as comparable text. Counters from which
// identifiers are made are no state: they only ever grow.
func state(t testing.TB, s Subject) string {
	t.Helper()
	body, err := json.Marshal(s.Control().State())
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(body, &tree); err != nil {
		t.Fatal(err)
	}
	dropCounters(tree)
	out, err := json.MarshalIndent(tree, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func dropCounters(tree any) {
	switch v := tree.(type) {
	case map[string]any:
		delete(v, "Seq")
		for _, child := range v {
			dropCounters(child)
		}
	case []any:
		for _, child := range v {
			dropCounters(child)
		}
	}
}
