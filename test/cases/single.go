package cases

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Single returns the fuzz tests of one Service, with nothing there before it.
func Single[C, F any](cloud providers.Cloud[C, F], config C, svc *corev1.Service, nodes []corev1.Node, facts F) Fuzzer[C, F] {
	input := func(svc *corev1.Service) (providers.Input[C], annotations.Problems) {
		return Input(&cloud, config, svc, Around{Cluster: "kubernetes", Nodes: nodes})
	}
	return Fuzzer[C, F]{
		Cloud: &cloud, Cases: 1, Found: func(want, _ *stack.Stack) *stack.Stack { return AsFound(want) },
		Case: func(testing.TB, int) Fuzzed[C, F] {
			return Fuzzed[C, F]{Name: svc.Name, Service: svc, Facts: facts, Have: &stack.Stack{}, Ledger: ReadyLedger(), Input: input}
		},
	}
}
