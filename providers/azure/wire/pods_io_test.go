package wire

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/azure/network"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// podRig is a rig with a service gateway, on which every Service has the first pods
// of all nodes.
func podRig(t *testing.T, opt simazure.Options) *rig {
	t.Helper()
	opt.Seed.Pools, opt.Seed.Nodes = simazure.PodIP, 4
	r := newRig(t, opt)
	r.Slices = []*discoveryv1.EndpointSlice{r.pods(0)}
	return r
}

// pods is a slice with the n-th pod of every node.
func (r *rig) pods(n int) *discoveryv1.EndpointSlice {
	out := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	for _, name := range []string{"http", "https"} {
		number := int32(8080)
		out.Ports = append(out.Ports, discoveryv1.EndpointPort{Name: &name, Port: &number})
	}
	for _, node := range r.sim.Cloud.Seed.Nodes {
		out.Endpoints = append(out.Endpoints, discoveryv1.Endpoint{Addresses: []string{node.Pods[n]}, NodeName: &node.Name})
	}
	return out
}

func toPods(n int) *corev1.Service {
	return numberedService(n, model.Public, func(s *corev1.Service) {
		s.Spec.Ports[0].TargetPort, s.Spec.Ports[1].TargetPort = intstr.FromInt32(8080), intstr.FromInt32(8443)
	})
}

// podPlaces are the services of all addresses of the gateway, by address.
func (r *rig) podPlaces() map[string][]string {
	r.Helper()
	locations, _, err := r.Session.list(r.Context(), r.Config.GatewayID()+"/"+pathLocations, networkVersion, nil)
	if err != nil {
		r.Fatal(err)
	}
	out := map[string][]string{}
	for _, l := range locations {
		for _, a := range l.List(model.FieldAddresses) {
			out[l.Text("addressLocation")+" "+a.Text("address")] = a.Texts(model.FieldServices)
		}
	}
	return out
}

// TestPodsKnownIsFound: what the writes say to be there is what a read finds; and
// the gateway answers at once, or later.
func TestPodsKnownIsFound(t *testing.T) {
	for name, opt := range map[string]simazure.Options{
		"at once":  {},
		"later":    {Network: network.Options{LateGateways: true}, ARM: simarm.Options{Async: simarm.AsyncHeader, Latency: 300 * time.Millisecond, PollAfter: 20 * time.Millisecond}},
		"location": {Network: network.Options{LateGateways: true}, ARM: simarm.Options{Async: simarm.AsyncLocation, Latency: 300 * time.Millisecond, PollAfter: 20 * time.Millisecond}},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			r := podRig(t, opt)
			svc := toPods(1)
			known, err := r.run(svc, false)
			if err != nil {
				t.Fatal(err)
			}
			known.Sort()
			r.Now = r.Now.Add(time.Minute)
			found := r.Read(false, svc)[0]
			options := []cmp.Option{cmpopts.IgnoreFields(stack.Resource{}, "Proof", "ID"), cmpopts.IgnoreFields(model.Rule{}, "Distribution"), cmpopts.EquateEmpty()}
			if d := cmp.Diff(known.Resources, found.Have.Resources, options...); d != "" {
				t.Errorf("(-known after the run +read):\n%s", d)
			}
			if a := model.Cloud().Status(r.Input(svc), found.Have).Ingress; len(a) != 1 || a[0].IP == "" {
				t.Errorf("addresses %v", a)
			}
			if n := len(r.podPlaces()); n != 4 {
				t.Errorf("%d places of pods, want 4", n)
			}
			if _, err := r.run(svc, true); err != nil {
				t.Fatal(err)
			}
			if left := r.Read(true, svc)[0].Have; len(left.Resources) > 0 || len(r.podPlaces()) > 0 {
				t.Errorf("left over: %+v, %v", left.Resources, r.podPlaces())
			}
		})
	}
}

// TestPodsIPv6: a Service of the other family has an address of it, and its pods are
// under the nodes' addresses of it.
func TestPodsIPv6(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := podRig(t, simazure.Options{Seed: simazure.SeedOptions{DualStack: true}})
		r.Slices[0].AddressType = discoveryv1.AddressTypeIPv6
		var want []string
		for i, node := range r.sim.Cloud.Seed.Nodes {
			pod := node.Pods[len(node.Pods)/2] // those of IPv4 come first
			r.Slices[0].Endpoints[i].Addresses = []string{pod}
			want = append(want, node.PrivateIP6+" "+pod)
		}
		svc := toPods(1)
		svc.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv6Protocol}
		have, err := r.run(svc, false)
		if err != nil {
			t.Fatal(err)
		}
		if a := model.Cloud().Status(r.Input(svc), have).Ingress; len(a) != 1 || !strings.Contains(a[0].IP, ":") {
			t.Errorf("addresses %v", a)
		}
		if d := cmp.Diff(want, slices.Sorted(maps.Keys(r.podPlaces()))); d != "" {
			t.Errorf("places (-want +got):\n%s", d)
		}
		if _, err := r.run(svc, true); err != nil || len(r.podPlaces()) > 0 {
			t.Errorf("release: %v, %v", err, r.podPlaces())
		}
	})
}

// TestPodsTogether verifies that the entries of many Services are written to the gateway in
// few calls, and so are their deletions.
func TestPodsTogether(t *testing.T) {
	for _, n := range []int{1, 10, 100} {
		virtual.Run(t, fmt.Sprint(n), func(t *testing.T) {
			r := podRig(t, simazure.Options{})
			r.slow()
			const most = 4 // a call takes along what has come while the last one was under way
			var svcs []*corev1.Service
			for i := range n {
				svcs = append(svcs, toPods(i+1))
			}
			check := func(what string, each map[string]int, shared map[string]int) {
				t.Helper()
				counts := r.sim.Cloud.Journal.Counts()
				t.Log(what, counts)
				for operation, most := range shared {
					if got := counts["network."+operation]; got == 0 || got > most {
						t.Errorf("%s: %s: %d calls, want 1 to %d", what, operation, got, most)
					}
				}
				for operation, per := range each {
					if got := counts["network."+operation]; got != per*n {
						t.Errorf("%s: %s: %d calls, want %d for each of %d", what, operation, got, per, n)
					}
				}
				r.sim.Cloud.Journal.Reset()
			}
			r.sim.Cloud.Journal.Reset()
			r.AllTogether(false, svcs...)
			check("create", map[string]int{"LoadBalancers.CreateOrUpdate": 1, "PublicIPAddresses.CreateOrUpdate": 1},
				map[string]int{"ServiceGateways.UpdateServices": most, "ServiceGateways.UpdateAddressLocations": most, "LoadBalancers.List": 1, "PublicIPAddresses.List": 1})
			r.AtRest(svcs...)
			for at, services := range r.podPlaces() {
				if len(services) != n {
					t.Fatalf("%s has %d services, want %d", at, len(services), n)
				}
			}
			r.Slices = []*discoveryv1.EndpointSlice{r.pods(1)}
			r.sim.Cloud.Journal.Reset()
			r.AllTogether(false, svcs...)
			check("other pods", map[string]int{"LoadBalancers.CreateOrUpdate": 0, "PublicIPAddresses.CreateOrUpdate": 0, "ServiceGateways.UpdateServices": 0},
				map[string]int{"ServiceGateways.UpdateAddressLocations": most})
			r.AllTogether(true, svcs...)
			check("delete", map[string]int{"LoadBalancers.Delete": 1, "PublicIPAddresses.Delete": 1},
				map[string]int{"ServiceGateways.UpdateServices": 2 * most, "ServiceGateways.UpdateAddressLocations": most})
			r.Gone(svcs...)
		})
	}
}

// TestPodsOneWrong: a call for many Services whose content the gateway refuses is repeated
// for each alone, so that only the rejected one reports an error.
func TestPodsOneWrong(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := podRig(t, simazure.Options{})
		r.Slices = nil
		svcs := []*corev1.Service{toPods(1), toPods(2), toPods(3)}
		r.AllTogether(false, svcs...)
		r.Slices = []*discoveryv1.EndpointSlice{r.pods(0)}
		var steps []plan.Step
		for i, f := range r.Read(false, svcs...) {
			steps = append(steps, r.Draft(svcs[i], false, f.Have, f.Facts).Steps...)
		}
		if len(steps) != 3 {
			t.Fatalf("%d steps, want those of three Services: %v", len(steps), steps)
		}
		wrong, _ := steps[1].Target.Spec.(model.Pods)
		wrong.Addresses = []model.PodAddress{{Location: wrong.Addresses[0].Location, Address: "fd00::1"}}
		steps[1].Target.Spec = wrong
		out := r.Session.Apply(t.Context(), plan.Batch{Key: steps[0].Batch, Steps: steps, Claims: r.Ledger})
		if out[0].Err != nil || out[2].Err != nil || !fault.Is(out[1].Err, fault.Invalid) {
			t.Errorf("got %v, %v, %v, want only the second refused", out[0].Err, out[1].Err, out[2].Err)
		}
		for at, services := range r.podPlaces() {
			if len(services) != 2 {
				t.Errorf("%s has %v, want the other two", at, services)
			}
		}
	})
}

// TestPodsFaults verifies that a refusal of the gateway is reported, and that the step is
// retried later.
func TestPodsFaults(t *testing.T) {
	const services, locations = "ServiceGateways.UpdateServices", "ServiceGateways.UpdateAddressLocations"
	for _, c := range []struct {
		name  string
		fault sim.Fault
		want  fault.Meaning // Internal: none, the call is retried
	}{
		{"throttled", sim.Fault{Operation: locations, Kind: sim.FaultError, Status: 429, Count: 1}, fault.Internal},
		{"no answer", sim.Fault{Operation: services, Kind: sim.FaultCutAfter, Count: 1}, fault.Ambiguous},
		{"busy", sim.Fault{Operation: services, Kind: sim.FaultError, Status: 409, Code: "AnotherOperationInProgress", Count: 1}, fault.Pending},
		{"pods are still under it", sim.Fault{Operation: services, Kind: sim.FaultError, Status: 400, Code: "ServiceWithOverlayMappingsCannotBeDeleted"}, fault.InUse},
	} {
		virtual.Run(t, c.name, func(t *testing.T) {
			r := podRig(t, simazure.Options{})
			svcs := []*corev1.Service{toPods(1), toPods(2), toPods(3)}
			if c.want == fault.InUse {
				r.AllTogether(false, svcs...)
			}
			if _, err := r.sim.Cloud.Faults.Add(c.fault); err != nil {
				t.Fatal(err)
			}
			failed := r.faultsOf(c.want == fault.InUse, svcs)
			told := slices.ContainsFunc(failed, func(err error) bool { return fault.Is(err, c.want) })
			if told != (c.want != fault.Internal) || !told && len(failed) > 0 {
				t.Errorf("got %v, want %v", failed, c.want)
			}
			r.sim.Cloud.Faults.Clear()
			r.Now = r.Now.Add(time.Minute)
			for _, svc := range svcs {
				if _, err := r.run(svc, false); err != nil {
					t.Errorf("afterwards: %v", err)
				}
			}
		})
	}
}

// TestPodsNoGateway: without a gateway nothing is created, and existing resources can be
// deleted.
func TestPodsNoGateway(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := podRig(t, simazure.Options{})
		svc := toPods(1)
		if _, err := r.sim.Cloud.Faults.Add(sim.Fault{Operation: "ServiceGateways.*", Kind: sim.FaultError, Status: 404, Code: "ResourceNotFound"}); err != nil {
			t.Fatal(err)
		}
		found := r.Read(false, svc)[0]
		_, problems, err := model.Cloud().Build(r.Input(svc), found.Facts, found.Have)
		if err != nil || !problems.Errors() || !strings.Contains(strings.Join(problems.Strings(), " "), "service gateway servicegateway: does not exist") {
			t.Errorf("%v, %v", err, problems.Strings())
		}
		if _, err := r.run(svc, true); err != nil {
			t.Errorf("release: %v", err)
		}
	})
}
