package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// newMulti is a rig with three load balancers: the second is for nodes and Services
// with labels, the third for one availability set.
func newMulti(t testing.TB, seed simazure.SeedOptions) *rig {
	seed.Nodes = 8
	r := newRig(t, simazure.Options{Seed: seed, ARM: simarm.Options{Async: simarm.AsyncNone}})
	r.edit = [2]string{"{", `{"multipleStandardLoadBalancerConfigurations": [
		{"name": "kubernetes", "primaryVMSet": "none"},
		{"name": "second", "primaryVMSet": "nothing", "nodeSelector": {"matchLabels": {"tier": "front"}}, "serviceLabelSelector": {"matchLabels": {"tier": "front"}}},
		{"name": "third", "primaryVMSet": "nobody", "serviceNamespaceSelector": {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["shop"]}]}},
		{"name": "fourth", "primaryVMSet": "nowhere"}],`}
	r.open()
	return r
}

func labelFront(s *corev1.Service) { s.Labels = map[string]string{"tier": "front"} }

// members are the nodes in the pools that rules of Services send to, by load balancer.
func (r *rig) members() map[string][]string {
	r.Helper()
	out := map[string][]string{}
	for _, name := range r.Config.Balancers("kubernetes") {
		lb, err := r.Session.get(r.Context(), r.Config.BalancerID(name), networkVersion)
		if err != nil {
			r.Fatal(err)
		}
		if lb == nil {
			continue
		}
		out[name] = []string{}
		for _, ip := range model.MembersOf(lb) {
			for _, n := range r.Nodes {
				if n.Status.Addresses[0].Address == ip {
					out[name] = append(out[name], n.Name)
				}
			}
		}
		slices.Sort(out[name])
	}
	return out
}

// where is the load balancer that a Service is on.
func (r *rig) where(svc *corev1.Service) string {
	r.Helper()
	var out []string
	for _, res := range r.Read(false, svc)[0].Have.Of(model.KindEntries) {
		if e, ok := res.Spec.(model.Entries); ok {
			out = append(out, e.Balancer)
		}
	}
	return strings.Join(out, " and ")
}

func (r *rig) runAll(release bool, svcs ...*corev1.Service) {
	r.Helper()
	for _, svc := range svcs {
		if _, err := r.run(svc, release); err != nil {
			r.Fatalf("%s, release %t: %v", svc.Name, release, err)
		}
	}
}

// TestSeveralBalancers verifies that Services and nodes are distributed over the load
// balancers. They stay where they are when others are added and after a restart, and move
// when they no longer fit.
func TestSeveralBalancers(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newMulti(t, simazure.SeedOptions{})
		all := r.Nodes
		r.Nodes = all[:5]
		r.Nodes[1].Labels["tier"] = "front"
		svcs := []*corev1.Service{numberedService(1, model.Public, nil), numberedService(2, model.Public, nil), numberedService(3, model.Internal, nil), numberedService(4, model.Internal, nil), numberedService(5, model.Public, labelFront)}
		r.runAll(false, svcs...)
		r.runAll(false, svcs...)
		places := map[string]int{}
		before := map[string]string{}
		for _, svc := range svcs {
			before[svc.Name] = r.where(svc)
			places[before[svc.Name]]++
		}
		if d := cmp.Diff(map[string]int{"kubernetes": 1, "fourth": 1, "kubernetes-internal": 1, "fourth-internal": 1, "second": 1}, places); d != "" {
			t.Errorf("Services by load balancer (-want +got):\n%s", d)
		}
		name := func(i int) string { return all[i].Name }
		want := map[string][]string{
			"kubernetes": {name(0), name(4)}, "kubernetes-internal": {name(0), name(4)}, "fourth": {name(3)}, "fourth-internal": {name(3)}, "second": {name(1)},
		}
		if d := cmp.Diff(want, r.members()); d != "" {
			t.Errorf("nodes, of which the third is kept for the load balancer that is not there yet (-want +got):\n%s", d)
		}

		r.open()
		r.Nodes = all
		r.runAll(false, svcs...)
		for _, suffix := range []string{"", "-internal"} {
			want["kubernetes"+suffix] = []string{name(0), name(4), name(7)}
			want["fourth"+suffix] = []string{name(3), name(6)}
		}
		if d := cmp.Diff(want, r.members()); d != "" {
			t.Errorf("after a restart, with three more nodes, of which the third has one (-want +got):\n%s", d)
		}
		for _, svc := range svcs {
			if now := r.where(svc); now != before[svc.Name] {
				t.Errorf("%s was on %s and is on %s", svc.Name, before[svc.Name], now)
			}
		}

		delete(r.Nodes[1].Labels, "tier")
		r.Nodes[0].Labels["tier"] = "front"
		svcs[0].Labels = map[string]string{"tier": "front"}
		r.runAll(false, svcs...)
		r.runAll(false, svcs...)
		if now := r.where(svcs[0]); now != "second" {
			t.Errorf("the Service with the new label is on %s, want second", now)
		}
		got := r.members()
		for _, lb := range []string{"second", "fourth"} {
			if n := slices.Contains(got[lb], name(0)); n != (lb == "second") {
				t.Errorf("%s has %v; the first node has the label now", lb, got[lb])
			}
		}
		r.restThenLeave(svcs...)
	})
}

// restThenLeave verifies that no step remains for the Services, and that nothing of them
// remains after their deletion.
func (r *rig) restThenLeave(svcs ...*corev1.Service) {
	r.Helper()
	for _, svc := range svcs {
		if _, p := r.Plan(svc, false); !p.Empty() {
			r.Errorf("%s is not at rest: %v", svc.Name, p.Steps)
		}
	}
	r.runAll(true, svcs...)
	if left := r.members(); len(left) > 0 {
		r.Errorf("left: %v", left)
	}
}

// newSlice returns the endpoints of a Service on nodes; those marked with ! are not
// ready.
func newSlice(svc *corev1.Service, nodes ...string) *discoveryv1.EndpointSlice {
	port, protocol, name := int32(8080), corev1.ProtocolTCP, "http"
	s := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: svc.Namespace, Name: svc.Name + "-x", Labels: map[string]string{"kubernetes.io/service-name": svc.Name}},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &port, Protocol: &protocol}},
	}
	for i, n := range nodes {
		node, unready := strings.CutPrefix(n, "!")
		ready := !unready
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{fmt.Sprintf("10.244.0.%d", i+1)}, NodeName: &node, Conditions: discoveryv1.EndpointConditions{Ready: &ready}})
	}
	return s
}

// TestLocalPool: a Service with traffic policy Local has its own pool, with the nodes of
// its load balancer that have endpoints. The pool follows them and is deleted with the
// policy.
func TestLocalPool(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newMulti(t, simazure.SeedOptions{})
		svc := numberedService(1, model.Public, func(s *corev1.Service) { useLocalPolicy(s); labelFront(s) })
		for _, i := range []int{0, 1, 2} {
			r.Nodes[i].Labels["tier"] = "front"
		}
		name := func(i int) string { return r.Nodes[i].Name }
		for _, c := range []struct {
			what string
			on   []string // nodes with endpoints
			want []string
		}{
			{"two of its nodes, one of another load balancer, one that is not ready", []string{name(0), name(1), name(5), "!" + name(2)}, []string{name(0), name(1)}},
			{"a pod has moved", []string{name(1), name(2)}, []string{name(1), name(2)}},
			{"no pod is left", nil, []string{}},
			{"one is back", []string{name(0)}, []string{name(0)}},
		} {
			r.Slices = []*discoveryv1.EndpointSlice{newSlice(svc, c.on...)}
			r.runAll(false, svc)
			if d := cmp.Diff(c.want, r.members()["second"]); d != "" {
				t.Errorf("%s (-want +got):\n%s", c.what, d)
			}
		}
		pools := func() []string {
			lb, err := r.Session.get(t.Context(), r.Config.BalancerID("second"), networkVersion)
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for _, p := range lb.Props().List(model.ListPools) {
				out = append(out, p.Text("name"))
			}
			return out
		}
		if d := cmp.Diff([]string{"shop-web-1"}, pools()); d != "" {
			t.Errorf("pools (-want +got):\n%s", d)
		}
		svc.Spec.ExternalTrafficPolicy, svc.Spec.HealthCheckNodePort = corev1.ServiceExternalTrafficPolicyCluster, 0
		r.runAll(false, svc)
		if d := cmp.Diff([]string{"kubernetes"}, pools()); d != "" {
			t.Errorf("pools with the policy Cluster (-want +got):\n%s", d)
		}
		if d := cmp.Diff([]string{name(0), name(1), name(2)}, r.members()["second"]); d != "" {
			t.Errorf("members with the policy Cluster (-want +got):\n%s", d)
		}
		r.runAll(true, svc)
		if left := r.members(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// TestPoolsWithoutFrontend: a load balancer is deleted with its last frontend, which Azure
// permits in no other way, whatever pools remain in it: the official controller leaves the
// pools of Services with traffic policy Local, with their content.
func TestPoolsWithoutFrontend(t *testing.T) {
	member := model.Object{"name": "node", "properties": map[string]any{"ipAddress": "10.240.0.4"}}
	for name, members := range map[string][]model.Object{"empty": {}, "with a node": {member}} {
		virtual.Run(t, name, func(t *testing.T) {
			r := newMulti(t, simazure.SeedOptions{})
			svcs := []*corev1.Service{numberedService(1, model.Public, nil), numberedService(2, model.Internal, nil)}
			r.runAll(false, svcs...)
			for _, svc := range svcs {
				id := r.Config.BalancerID(r.where(svc)) + "/" + model.ListPools + "/shop-gone"
				pool := model.Object{"name": "shop-gone", "properties": map[string]any{}}
				pool.Props().SetList("loadBalancerBackendAddresses", members)
				pool.Props()["virtualNetwork"] = model.IDObject(strings.TrimSuffix(r.Config.SubnetID(""), "/subnets/"))
				if _, err := r.Session.put(t.Context(), id, pool, ""); err != nil {
					t.Fatal(err)
				}
			}
			r.runAll(true, svcs...)
			if left := r.members(); len(left) > 0 {
				t.Errorf("load balancers that are left: %v", left)
			}
		})
	}
}

// TestPrimarySets: nodes whose provider ids do not name their set are on the load
// balancer of the set that Azure says they are in.
func TestPrimarySets(t *testing.T) {
	for _, as := range []simazure.NodesAs{simazure.VMSS, simazure.Flex} {
		virtual.Run(t, string(as), func(t *testing.T) {
			r := newMulti(t, simazure.SeedOptions{NodesAs: as})
			r.edit[1] = strings.Replace(r.edit[1], `"nowhere"`, `"`+strings.ToUpper(r.sim.Cloud.Seed.ScaleSet)+`"`, 1)
			r.open()
			svcs := []*corev1.Service{numberedService(1, model.Public, setValue("azure-load-balancer-configurations", "fourth")), numberedService(2, model.Public, setValue("azure-load-balancer-configurations", "kubernetes"))}
			r.runAll(false, svcs...)
			got := r.members()
			if len(got["fourth"]) != len(r.Nodes) || len(got["kubernetes"]) != 0 {
				t.Errorf("%v, want all nodes on the fourth", got)
			}
			r.runAll(true, svcs...)
		})
	}
}

// TestNotNamedAsCluster: one of several load balancers must have the cluster's name.
func TestNotNamedAsCluster(t *testing.T) {
	c := model.Config{}
	c.Multi = []model.MultiBalancer{{Name: "other", PrimaryVMSet: "x"}}
	if err := c.HasCluster("kubernetes"); err == nil || fault.Of(err) != fault.Internal {
		t.Errorf("got %v", err)
	}
	c.Multi[0].Name = "KUBERNETES"
	if err := c.HasCluster("kubernetes"); err != nil {
		t.Error(err)
	}
}
