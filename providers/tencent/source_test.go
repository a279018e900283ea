package tencent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/tencent/model"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

const sourceEndpoints = cloud + "loadbalancer-source-endpoints"

// endpointsReference names Endpoints.
func endpointsReference(name string) providers.Reference {
	return providers.Reference{Kind: providers.Endpoints, Namespace: "shop", Name: name}
}

// fromOther asks for the endpoints of another name.
func fromOther(svc *corev1.ServiceSpec) {
	svc.Selector = nil
}

// expectTargets checks the addresses behind both ports.
func expectTargets(t *testing.T, w *world, when string, want ...string) {
	t.Helper()
	all := w.Sim.Forwards()
	if len(all) != 2 && len(want) > 0 {
		t.Errorf("%s: %d ports are forwarded", when, len(all))
	}
	for _, f := range all {
		var got []string
		for _, to := range f.To {
			address, _, _ := strings.Cut(to, ":")
			got = append(got, address)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the port %d sends to %v, want %v", when, f.Port, got, want)
		}
	}
}

// TestSourceEndpoints: targets come from the Endpoints that a Service names, and follow them. While these do not exist, or the
// value is broken, the last targets stay, also in a new process.
func TestSourceEndpoints(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		svc := props.Service("web", onTencent().Keys(direct, "true", sourceEndpoints, `{"name":"api"}`), fromOther).Service
		give := func(addresses ...string) {
			w.Given = map[providers.Reference]providers.Object{endpointsReference("api"): {Slices: []*discoveryv1.EndpointSlice{account.PodSlice(svc, w.Machines, addresses...)}}}
		}
		give("172.16.0.21", "172.16.0.22")
		w.Serve(svc)
		expectTargets(t, w, "at first", "172.16.0.21", "172.16.0.22")
		give("172.16.0.22", "172.16.0.23")
		w.Serve(svc)
		expectTargets(t, w, "others", "172.16.0.22", "172.16.0.23")

		w.Given = map[providers.Reference]providers.Object{endpointsReference("api"): {Why: "does not exist"}}
		for range 2 {
			if res, err := w.Once(svc, false); err != nil || !strings.Contains(fmt.Sprint(res.Draft.Problems), "names the Endpoints shop/api, which does not exist") {
				t.Fatal(err, res.Draft.Problems)
			}
			expectTargets(t, w, "missing", "172.16.0.22", "172.16.0.23")
			w.Restart(svc)
		}
		svc.Annotations[sourceEndpoints] = `{"name":`
		w.Restart(svc)
		if res, err := w.Once(svc, false); err != nil || !res.Draft.Problems.Errors() {
			t.Fatal(err, res.Draft.Problems)
		}
		expectTargets(t, w, "broken", "172.16.0.22", "172.16.0.23")

		svc.Annotations[sourceEndpoints] = `{"name":"api"}`
		w.Given = map[providers.Reference]providers.Object{endpointsReference("api"): {Slices: []*discoveryv1.EndpointSlice{}}}
		w.Serve(svc)
		expectTargets(t, w, "none is ready")
	})
}

// TestSourcePorts: a port that the named Endpoints do not have is reported.
func TestSourcePorts(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		svc := props.Service("web", onTencent().Keys(direct, "true", sourceEndpoints, `{"name":"api"}`)).Service
		slice := account.PodSlice(svc, w.Machines, "172.16.0.21")
		slice.Ports = slice.Ports[:1]
		w.Given = map[providers.Reference]providers.Object{endpointsReference("api"): {Slices: []*discoveryv1.EndpointSlice{slice}}}
		res, err := w.Once(svc, false)
		if err != nil || !strings.Contains(fmt.Sprint(res.Draft.Problems), `has no port "`+svc.Spec.Ports[1].Name+`"/TCP`) {
			t.Error(err, res.Draft.Problems)
		}
		if !slices.Contains(model.Refers(model.Input{Service: svc, Values: res.Draft.Request.Values}), endpointsReference("api")) {
			t.Error("the Endpoints are not named")
		}
	})
}
