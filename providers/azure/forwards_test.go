package azure_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/azure"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// forwardCases are Services whose packets take different ways.
func forwardCases() []props.Case {
	ranges := func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"10.2.0.0/16", "192.0.2.0/24"} }
	return append(propsCases(),
		serviceCase("dual", nil, func(s *corev1.ServiceSpec) { props.Dual(s); ranges(s) }),
		serviceCase("floating-off", map[string]string{"disable-load-balancer-floating-ip": "true"}, ranges),
		serviceCase("internal-deny", map[string]string{"load-balancer-internal": "true", "deny-all-except-load-balancer-source-ranges": "true"}, ranges),
		serviceCase("all-ports", map[string]string{"load-balancer-internal": "true", "load-balancer-enable-high-availability-ports": "true"}, nil),
	)
}

// TestFlowsAreForwards: after every step of every move between two cases, the flows of what
// was read are what packets do in the simulated cloud, with pools of either sort.
func TestFlowsAreForwards(t *testing.T) {
	for _, pools := range []simazure.PoolType{simazure.NodeIP, simazure.NodeNIC} {
		virtual.Run(t, string(pools), func(t *testing.T) {
			s, ok := newSubject(simazure.SeedOptions{Nodes: 3, Pools: pools, DualStack: true})(t).(subject)
			if !ok {
				t.Fatal("not the subject of this package")
			}
			list, seen := forwardCases(), 0
			for i, from := range list {
				for _, to := range append(slices.Clone(list[i+1:]), from) {
					seen += s.moveTo(t, from.Name+" to "+to.Name, to.Service.DeepCopy())
				}
			}
			if seen < 1000 {
				t.Errorf("only %d packets were compared", seen)
			}
		})
	}
}

// moveTo reconciles the Service until nothing is left to do. It compares after every call,
// and returns the number of packets.
func (s subject) moveTo(t *testing.T, name string, svc *corev1.Service) int {
	t.Helper()
	seen, bound := 0, s.Open(t)
	apply, turn := bound.Apply, make(chan struct{}, 1)
	bound.Apply = func(ctx context.Context, b plan.Batch) []plan.Outcome {
		turn <- struct{}{} // the cloud does not change while it is read
		defer func() { <-turn }()
		out := apply(ctx, b)
		seen += s.compareFlows(t, name+", after "+b.Steps[0].ID.String(), svc)
		return out
	}
	r := props.Process(t, bound, s.Nodes(), reconcile.Job{Service: svc})
	for range 8 {
		res, err := props.Work(t.Context(), r, reconcile.Job{Service: svc})
		if err != nil {
			t.Fatal(err)
		}
		svc.Status.LoadBalancer.Ingress = res.Status.Ingress
		if res.Clean {
			return seen
		}
	}
	t.Fatalf("%s: no end", name)
	return seen
}

// compareFlows compares the flows of what a new process reads with the packets of the
// simulator, and returns the number of them.
func (s subject) compareFlows(t *testing.T, when string, svc *corev1.Service) int {
	t.Helper()
	d, err := props.Process(t, s.Open(t), s.Nodes(), reconcile.Job{Service: svc}).Draft(t.Context(), reconcile.Job{Service: svc})
	if err != nil {
		t.Fatal(err)
	}
	flows := azure.Cloud().Flows([]*stack.Stack{d.Have})
	want, got := map[string]string{}, map[string]string{}
	packets := s.running.Cloud.Forwards()
	for _, p := range packets {
		packet := packetText(p.Source, p.Address, p.Protocol, p.Port)
		want[packet], got[packet] = strings.Join(p.Nodes, " "), ""
	}
	for _, p := range packets {
		packet := packetText(p.Source, p.Address, p.Protocol, p.Port)
		got[packet] = strings.Join(reachedBackends(flows, p), " ")
	}
	for _, f := range flows {
		if at, err := netip.ParseAddr(f.Address); err == nil && f.Serves() && !slices.ContainsFunc(packets, func(p simazure.Passage) bool {
			return p.Address == at && p.Port == int(f.Port) && p.Protocol == f.Protocol
		}) {
			got[f.Name()] = "serves, and the cloud has no frontend"
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-the cloud +flows)\n%s", when, diff)
	}
	return len(packets)
}

// reachedBackends returns the names of the backends that a packet gets to by the flows.
func reachedBackends(flows []traffic.Flow, p simazure.Passage) []string {
	var out []string
	for _, f := range flows {
		same := f.Address == p.Address.String() && f.Protocol == p.Protocol && int(f.Port) == p.Port
		if !same || !slices.ContainsFunc(f.From, func(r netip.Prefix) bool { return r.Contains(p.Source) }) {
			continue
		}
		for _, b := range f.To {
			out = append(out, b.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func packetText(client, address netip.Addr, protocol string, port int) string {
	return fmt.Sprintf("%s to %s %d/%s", client, address, port, protocol)
}
