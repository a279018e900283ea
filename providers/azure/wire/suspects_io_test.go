package wire

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack/plan"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// addressed is a node of the seed with another name and address.
func (r *rig) addressed(name, address string) corev1.Node {
	node := r.Nodes[0].DeepCopy()
	node.Name = name
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}}
	return *node
}

// once makes one plan for a Service and runs it.
func (r *rig) once(svc *corev1.Service) []plan.Refusal {
	r.Helper()
	found := r.Read(false, svc)[0]
	report := r.Engine.Run(r.Context(), r.Draft(svc, false, found.Have, found.Facts), found.Have, nil)
	var refused []plan.Refusal
	for _, res := range report.Results {
		refused = append(refused, res.Outcome.Refused...)
		if res.Outcome.Err != nil {
			r.Errorf("%s: %v", res.Step.ID, res.Outcome.Err)
		}
	}
	return refused
}

// pooled are the addresses in the pool of all Services.
func (r *rig) pooled(svc *corev1.Service) map[string]bool {
	out := map[string]bool{}
	for _, res := range r.Read(false, svc)[0].Have.Of(model.KindPool) {
		for _, a := range res.Spec.(model.Pool).Addresses {
			out[a.IP] = true
		}
	}
	return out
}

// TestBadAddresses: a few nodes whose addresses Azure does not take keep no other one
// out; they are found with few calls, and once they are known they are tried after the
// others, one call each.
func TestBadAddresses(t *testing.T) {
	const good, bad = 60, 3
	r := newRig(t, simazure.Options{})
	nodes := []corev1.Node{}
	for n := range good {
		nodes = append(nodes, r.addressed(fmt.Sprintf("good-%d", n), fmt.Sprintf("10.240.9.%d", n+1)))
	}
	for n := range bad {
		nodes = append(nodes, r.addressed(fmt.Sprintf("good-%d-not", 20*n), fmt.Sprintf("192.0.2.%d", n+1)))
	}
	r.Nodes = nodes
	svc := numberedService(1, model.Internal, nil)
	if got := r.once(svc); len(got) != bad {
		t.Errorf("refused at first: %v, want %d", got, bad)
	}
	if n := r.writes("network.LoadBalancerBackendAddressPools.CreateOrUpdate"); n < bad || n > bad*6+3*bad {
		t.Errorf("%d calls to find %d of %d", n, bad, good+bad)
	}
	if got := r.pooled(svc); len(got) != good {
		t.Errorf("%d are members, want %d", len(got), good)
	}

	r.Nodes = append(r.Nodes, r.addressed("late", "10.240.9.200"))
	r.sim.Cloud.Journal.Reset()
	for _, refusal := range r.once(svc) {
		if !fault.Is(refusal.Err, fault.Invalid) {
			t.Errorf("refused: %v", refusal)
		}
	}
	if got := r.pooled(svc); len(got) != good+1 || !got["10.240.9.200"] {
		t.Errorf("%d are members, want %d with the late one", len(got), good+1)
	}
	if n := r.writes("network.LoadBalancerBackendAddressPools.CreateOrUpdate"); n != 1+bad {
		t.Errorf("%d calls for a node that came and %d that are known, want %d", n, bad, 1+bad)
	}

	r.Nodes = r.Nodes[1:]
	r.once(svc)
	if got := r.pooled(svc); len(got) != good {
		t.Errorf("%d are members after one has gone, want %d", len(got), good)
	}
}
