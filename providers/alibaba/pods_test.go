package alibaba_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// podKeys ask for pods as backends.
func podKeys(pairs ...string) map[string]string {
	out := withKeys(pairs...)
	out[domain+"backend-type"] = "eni"
	return out
}

// podAddresses returns the addresses of a number of pods of the seed.
func podAddresses(n int) []string {
	var out []string
	for i := range n {
		out = append(out, simalibaba.PodAddress(i/5, i%5))
	}
	return out
}

// podSubject is a cloud whose Services have pods as backends.
type podSubject struct{ account.Subject[simulated] }

func (s podSubject) Slices(svc *corev1.Service) []*discoveryv1.EndpointSlice {
	return []*discoveryv1.EndpointSlice{account.PodSlice(svc, s.Nodes(), podAddresses(4)...)}
}

// TestPropertiesPods: the properties hold for pods as backends.
func TestPropertiesPods(t *testing.T) {
	props.Run(t, func(t testing.TB) props.Subject {
		return podSubject{onAlibaba().Subject(t, withNodes(6))}
	}, []props.Case{
		props.Service("pods", podKeys()),
		props.Service("light pods", podKeys("default-weight", "20")),
		props.Service("nodes", nil),
	})
}

// TestPods: pods are servers by their network interfaces; one without an interface is left out and
// named, and is a server once it has one.
func TestPods(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(3))
		svc := props.Service("web", podKeys()).Service
		w.Slices = []*discoveryv1.EndpointSlice{account.PodSlice(svc, w.Machines, append(podAddresses(3), "192.168.200.9")...)}
		res, err := w.Once(svc, false)
		if err != nil || res.Err != nil {
			t.Fatal(err, res.Err)
		}
		text := strings.Join(res.Draft.Problems.Strings(), "\n")
		if want := `pod pod-3: "192.168.200.9" on the node ` + w.Machines[0].Name + " has no network interface"; !strings.Contains(text, want) {
			t.Errorf("problems %q, want %q", text, want)
		}
		for _, f := range w.Sim.Cloud.Forwards() {
			if len(f.Servers) != 3 || !strings.HasPrefix(f.Servers[0], "192.168.64.") {
				t.Errorf("%+v", f)
			}
		}
		if got := len(w.Sim.Cloud.Forwards()); got != 2 {
			t.Errorf("%d ports", got)
		}
		if n := w.Control().Journal.Counts()["ecs.DescribeNetworkInterfaces"]; n != 1 {
			t.Errorf("%d calls for interfaces", n)
		}
	})
}

// TestManyPods: the interfaces of 250 pods are read by three calls, and by none as long as the pods stay.
func TestManyPods(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, simalibaba.Options{Seed: simalibaba.SeedOptions{Nodes: 5, Pods: 50}, Limits: simalibaba.Limits{Servers: 400}})
		svc := props.Service("web", podKeys()).Service
		var pods []string
		for _, n := range w.Sim.Cloud.Seed.Nodes {
			pods = append(pods, n.Pods...)
		}
		w.Slices = []*discoveryv1.EndpointSlice{account.PodSlice(svc, w.Machines, pods...)}
		w.Serve(svc)
		if n := w.Control().Journal.Counts()["ecs.DescribeNetworkInterfaces"]; n != 3 {
			t.Errorf("%d calls for interfaces", n)
		}
		w.Slices = []*discoveryv1.EndpointSlice{account.PodSlice(svc, w.Machines, pods[:len(pods)-1]...)}
		w.Control().Journal.Reset()
		w.Serve(svc)
		if n := w.Control().Journal.Counts()["ecs.DescribeNetworkInterfaces"]; n != 0 {
			t.Errorf("%d calls for interfaces", n)
		}
	})
}

// TestPodsOfIPv6: with the gate, pods of an IPv6 load balancer are servers by their IPv6 addresses.
func TestPodsOfIPv6(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, simalibaba.Options{Gates: "IPv6DualStack=true", Seed: simalibaba.SeedOptions{Nodes: 3}})
		svc := props.Service("web", podKeys("ip-version", "ipv6", "backend-ip-version", "IPv6")).Service
		svc.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv6Protocol}
		w.Slices = []*discoveryv1.EndpointSlice{account.PodSlice(svc, w.Machines, simalibaba.PodAddress6(0), simalibaba.PodAddress6(1))}
		res := w.Serve(svc)
		if got := res.Status.Ingress; len(got) != 1 || !strings.Contains(got[0].IP, ":") {
			t.Errorf("status %+v", got)
		}
		for _, f := range w.Sim.Cloud.Forwards() {
			if len(f.Servers) != 2 {
				t.Errorf("%+v", f)
			}
		}
	})
}

// TestGraceful: a pod that terminates and still serves stays with weight 0, and is removed otherwise.
func TestGraceful(t *testing.T) {
	for _, graceful := range []string{"true", "false"} {
		virtual.Run(t, graceful, func(t *testing.T) {
			w := beginWorld(t, withNodes(3))
			svc := props.Service("web", podKeys("graceful-shutdown", graceful)).Service
			slice := account.PodSlice(svc, w.Machines, podAddresses(2)...)
			w.Slices = []*discoveryv1.EndpointSlice{slice}
			w.Serve(svc)
			no, yes := false, true
			slice = slice.DeepCopy()
			slice.Endpoints[1].Conditions = discoveryv1.EndpointConditions{Ready: &no, Serving: &yes, Terminating: &yes}
			w.Slices = []*discoveryv1.EndpointSlice{slice}
			w.Serve(svc)
			group := fmt.Sprintf("k8s/%s/web/shop/berthdemo", backendOf(svc))
			if n := len(w.Sim.Cloud.ServersOf(group)); (n == 2) != (graceful == "true") {
				t.Errorf("%d servers in %s", n, group)
			}
			for _, f := range w.Sim.Cloud.Forwards() {
				if len(f.Servers) != 1 {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// backendOf returns the target port of the first port.
func backendOf(svc *corev1.Service) string {
	if text := svc.Spec.Ports[0].TargetPort.String(); text != "0" {
		return text
	}
	return fmt.Sprint(svc.Spec.Ports[0].Port)
}

// TestPodsFollow: what cannot be built follows the pods as well, by their network interfaces or addresses.
func TestPodsFollow(t *testing.T) {
	wrong := withKeys("scheduler", "fastest")
	for name, svc := range map[string]*corev1.Service{
		"CLB": props.Service("web", podKeys()).Service, "NLB": netCase("web", podKeys()).Service, "NLB by address": netCase("web", podKeys("server-group-type", "ip")).Service,
	} {
		t.Run(name, func(t *testing.T) { onAlibaba().PodsFollow(t, withNodes(3), svc, wrong, podAddresses(3)...) })
	}
}
