package cases

import (
	"io"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/ledger"
)

// Config reads the text of a cloud configuration that must be right.
func Config[C any](t testing.TB, read func(io.Reader) (C, annotations.Problems, error), text string) C {
	t.Helper()
	config, _, err := read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// OwnerOf is a Service as stacks know it.
func OwnerOf(svc *corev1.Service) stack.Owner {
	return stack.Owner{Namespace: svc.Namespace, Name: svc.Name, UID: string(svc.UID)}
}

// Around is what stands around a Service in a cluster.
type Around struct {
	Cluster string // --cluster-name
	Nodes   []corev1.Node
	Slices  []*discoveryv1.EndpointSlice
}

// Input is what the loop hands to Build for a Service, and what is wrong with its
// annotations.
func Input[C, F any](cloud *providers.Cloud[C, F], config C, svc *corev1.Service, around Around) (providers.Input[C], annotations.Problems) {
	in := providers.Input[C]{
		Identity: providers.Identity[C]{Owner: OwnerOf(svc), Cluster: around.Cluster, Config: config},
		Service:  svc, Kind: cloud.Choose(svc).Kind,
	}
	values, problems := cloud.AnnotationsUnder(config).Parse(in.Kind, annotations.SourceOf(svc))
	in.Values = values
	var projected []nodeports.Node
	for i := range around.Nodes {
		projected = append(projected, nodeports.Project(&around.Nodes[i], func(string) bool { return true }))
	}
	in.Backends = nodeports.BackendsOf(svc, nodeports.Select(projected, cloud.Select(in)), around.Slices, nodeports.FallbackOf(svc))
	if cloud.Virtual != nil {
		in.Backends.Virtual = nodeports.Select(projected, cloud.Virtual(in))
	}
	return in, problems
}

// ReadyLedger is a ledger of a cluster in which all Services are entered.
func ReadyLedger() *ledger.Ledger {
	l := ledger.New()
	l.SetReady()
	return l
}
