package alibaba_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestPodGates: the pods of a Service wait by the condition of the official controller until every listener has
// them as healthy servers. Nodes as backends have no such condition.
func TestPodGates(t *testing.T) {
	for kind, complete := range map[string]func(*corev1.Service){"clb": func(*corev1.Service) {}, "nlb": asNet} {
		virtual.Run(t, kind, func(t *testing.T) {
			w := beginWorld(t, withNodes(3))
			svc := props.Service("web", podKeys()).Service
			complete(svc)
			w.Slices = []*discoveryv1.EndpointSlice{account.PodSlice(svc, w.Machines, podAddresses(2)...)}
			res := w.Serve(svc)
			gates := w.Process.PodGates(res)
			if len(gates) != 1 || gates[0].Type != "service.readiness.alibabacloud.com/web" {
				t.Fatalf("gates %+v", gates)
			}
			w.Sim.Cloud.SetHealthy(podAddresses(2)[1], false)
			health, err := w.Process.MembersOf(t.Context(), res, []stack.Key{gates[0].Of})
			if err != nil || len(health) != 4 { // two pods at two ports
				t.Fatalf("%v, %+v", err, health)
			}
			for _, m := range health {
				checkMember(t, m, gates[0].Of)
			}
			nodes := props.Service("nodes", nil).Service
			complete(nodes)
			if got := w.Process.PodGates(w.Serve(nodes)); len(got) != 0 {
				t.Errorf("gates of nodes: %+v", got)
			}
		})
	}
}

// checkMember fails unless the second pod alone is not healthy.
func checkMember(t *testing.T, m providers.MemberHealth, of stack.Key) {
	t.Helper()
	if m.Of != of || m.Healthy != (m.Addr.String() == podAddresses(2)[0]) || m.Part == "" {
		t.Errorf("%+v", m)
	}
}
