package alibaba_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// virtualWorld is an account with two nodes and a third one that is virtual, not ready and without an instance.
func virtualWorld(t *testing.T, cloud account.Cloud[simalibaba.Options, simulated]) *world {
	w := cloud.Begin(t, withNodes(3))
	w.Machines = slices.Clone(w.Machines)
	v := &w.Machines[2]
	v.Labels, v.ProviderID, v.Ready = map[string]string{"type": "virtual-kubelet"}, "", corev1.ConditionFalse
	w.Restart()
	return w
}

// podsAt gives a Service one pod on each node, at these numbers.
func (p virtualPods) podsAt(w *world, svc *corev1.Service, numbers ...int) {
	var addresses []string
	for node, n := range numbers {
		addresses = append(addresses, simalibaba.PodAddress(node, n))
	}
	w.Slices = []*discoveryv1.EndpointSlice{account.PodSlice(svc, w.Machines, addresses...)}
}

// virtualPods expects what each port of an account is forwarded to.
type virtualPods struct{ *testing.T }

// expect fails unless each port is forwarded to instances and to these pods.
func (p virtualPods) expect(w *world, instances int, pods ...string) {
	p.Helper()
	all := w.Sim.Cloud.Forwards()
	if len(all) != 2 {
		p.Fatalf("%d ports", len(all))
	}
	for _, f := range all {
		var addresses []string
		for _, s := range f.Servers {
			if name, _, _ := strings.Cut(s, ":"); !strings.HasPrefix(name, "i-") {
				addresses = append(addresses, name)
			}
		}
		if slices.Sort(addresses); len(f.Servers) != instances+len(pods) || !slices.Equal(addresses, pods) {
			p.Errorf("port %d: %v; want %d instances and %v", f.Port, f.Servers, instances, pods)
		}
	}
}

// TestVirtualNodes: the pods on virtual nodes are servers beside the other nodes. They are followed, also while the
// Service is refused after a restart. Pods on other nodes cause no call.
func TestVirtualNodes(t *testing.T) {
	for kind, cloud := range map[string]account.Cloud[simalibaba.Options, simulated]{"clb": onAlibaba(), "nlb": onNet()} {
		for _, policy := range []corev1.ServiceExternalTrafficPolicy{corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal} {
			virtual.Run(t, kind+" "+string(policy), func(t *testing.T) {
				p, w := virtualPods{t}, virtualWorld(t, cloud)
				svc := props.Service("web", withKeys(), func(s *corev1.ServiceSpec) { s.ExternalTrafficPolicy = policy }).Service
				if cloud.Complete != nil {
					cloud.Complete(svc)
				}
				p.podsAt(w, svc, 0, 0, 0)
				w.Serve(svc)
				p.expect(w, 2, simalibaba.PodAddress(2, 0))

				w.Control().Journal.Reset()
				p.podsAt(w, svc, 1, 2, 0)
				w.Serve(svc)
				if calls := w.Control().Journal.Counts(); len(calls) > 0 && policy == corev1.ServiceExternalTrafficPolicyCluster {
					t.Errorf("calls for pods on other nodes: %v", calls)
				}

				p.podsAt(w, svc, 1, 2, 3)
				w.Serve(svc)
				p.expect(w, 2, simalibaba.PodAddress(2, 3))

				svc.Annotations[prefix+"address-type"] = "intrenet"
				w.Restart(svc)
				p.podsAt(w, svc, 1, 2, 4)
				if res, err := w.Once(svc, false); err != nil || !res.Draft.Problems.Errors() {
					t.Fatal(err, res.Draft.Problems)
				}
				p.expect(w, 2, simalibaba.PodAddress(2, 4))

				delete(svc.Annotations, prefix+"address-type")
				w.Process.SetNodes(w.Machines[:2]) // the virtual node is deleted
				p.podsAt(w, svc, 1, 2)
				w.Serve(svc)
				p.expect(w, 2)
			})
		}
	}
}

// TestVirtualNodeExcluded: a label that keeps a virtual node out keeps its pods out as well.
func TestVirtualNodeExcluded(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p, w := virtualPods{t}, virtualWorld(t, onAlibaba())
		w.Machines[2].Labels["service.alibabacloud.com/exclude-node"] = "true"
		w.Process.SetNodes(w.Machines)
		svc := props.Service("web", nil).Service
		p.podsAt(w, svc, 0, 0, 0)
		w.Serve(svc)
		p.expect(w, 2)
	})
}

// TestVirtualPodWithoutInterface: a pod on a virtual node whose network interface is not known is left out and named.
func TestVirtualPodWithoutInterface(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p, w := virtualPods{t}, virtualWorld(t, onAlibaba())
		svc := props.Service("web", nil).Service
		w.Slices = []*discoveryv1.EndpointSlice{account.PodSlice(svc, w.Machines, simalibaba.PodAddress(0, 0), simalibaba.PodAddress(1, 0), "192.168.200.9")}
		res := w.Serve(svc)
		if text := strings.Join(res.Draft.Problems.Strings(), "\n"); !strings.Contains(text, `pod pod-2: "192.168.200.9"`) || strings.Contains(text, "pod pod-0") {
			t.Errorf("problems %q", text)
		}
		p.expect(w, 2)
	})
}
