package oci_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/props"
)

// ipv4Nodes returns nodes that have addresses of IPv4 only.
func ipv4Nodes(nodes []nodeports.Node) []nodeports.Node {
	six := func(a netip.Addr) bool { return a.Is6() }
	out := slices.Clone(nodes)
	for i := range out {
		out[i].Internal, out[i].External = slices.DeleteFunc(slices.Clone(out[i].Internal), six), slices.DeleteFunc(slices.Clone(out[i].External), six)
	}
	return out
}

// plannedListeners returns the names of the listeners and backend sets that a Service
// would get, and the messages to the user.
func plannedListeners(t *testing.T, r *reconcile.Reconciler, svc *corev1.Service) ([]string, string) {
	t.Helper()
	d, err := r.Draft(t.Context(), reconcile.Job{Service: svc})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	if d.Want != nil {
		for _, res := range d.Want.Resources {
			switch spec := res.Spec.(type) {
			case model.Listener:
				out = append(out, "listener "+spec.Name)
			case model.BackendSet:
				out = append(out, "set "+spec.Name)
			}
		}
	}
	slices.Sort(out)
	return out, strings.Join(d.Problems.Strings(), "; ")
}

// TestFamiliesOfNodes: a network load balancer with addresses of both families listens on
// those by which it reaches nodes, as the official controller does.
func TestFamiliesOfNodes(t *testing.T) {
	s, r := startWithReserved(t)
	one := func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1]; s.Ports[0].Port = 80 }
	prefer, need, alone := corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack, corev1.IPFamilyPolicySingleStack
	ask := func(policy *corev1.IPFamilyPolicy, families ...corev1.IPFamily) *corev1.Service {
		return props.Service("web", annotationPairs(prefix+"load-balancer-type", "nlb"), one, func(s *corev1.ServiceSpec) { s.IPFamilyPolicy, s.IPFamilies = policy, families }).Service
	}
	four, six := corev1.IPv4Protocol, corev1.IPv6Protocol
	both := []string{"listener TCP-80", "listener TCP-80-IPv6", "set TCP-80", "set TCP-80-IPv6"}
	if got, told := plannedListeners(t, r, ask(&need, four, six)); !slices.Equal(got, both) {
		t.Errorf("nodes of both families: %q, %s", got, told)
	}
	r.SetNodes(nil)
	if got, told := plannedListeners(t, r, ask(&need, four, six)); !slices.Equal(got, both) {
		t.Errorf("no nodes: %q, %s", got, told)
	}
	r.SetNodes(ipv4Nodes(s.Nodes()))
	if got, told := plannedListeners(t, r, ask(&prefer, four, six)); !slices.Equal(got, []string{"listener TCP-80", "set TCP-80"}) || !strings.Contains(told, "no node has an address of IPv6") {
		t.Errorf("nodes of IPv4: %q, %s", got, told)
	}
	for _, svc := range []*corev1.Service{ask(&need, four, six), ask(&alone, six)} {
		if got, told := plannedListeners(t, r, svc); len(got) > 0 || !strings.Contains(told, "is not possible: no node has an address of IPv6") {
			t.Errorf("%s on nodes of IPv4: %q, %s", *svc.Spec.IPFamilyPolicy, got, told)
		}
	}
}

// TestEverybodyOfBothFamilies: 0.0.0.0/0 says no more than to say nothing, as with the
// official controller; any other list is taken as it was written.
func TestEverybodyOfBothFamilies(t *testing.T) {
	_, r := startWithReserved(t)
	four, six := corev1.IPv4Protocol, corev1.IPv6Protocol
	for _, c := range []struct {
		ranges   []string
		families []corev1.IPFamily
		want     []string
	}{
		{nil, []corev1.IPFamily{four}, []string{"0.0.0.0/0"}},
		{nil, []corev1.IPFamily{four, six}, []string{"0.0.0.0/0", "::/0"}},
		{[]string{"0.0.0.0/0"}, []corev1.IPFamily{four, six}, []string{"0.0.0.0/0", "::/0"}},
		{[]string{"0.0.0.0/0"}, []corev1.IPFamily{six}, []string{"::/0"}},
		{[]string{"0.0.0.0/0"}, []corev1.IPFamily{four}, []string{"0.0.0.0/0"}},
		{[]string{"10.0.0.0/8"}, []corev1.IPFamily{four, six}, []string{"10.0.0.0/8"}},
		{[]string{"0.0.0.0/0", "10.0.0.0/8"}, []corev1.IPFamily{four, six}, []string{"0.0.0.0/0", "10.0.0.0/8"}},
	} {
		notes := annotationPairs(prefix+"load-balancer-type", "nlb", netPrefix+"security-list-management-mode", "Frontend")
		svc := props.Service("web", notes, func(s *corev1.ServiceSpec) { s.IPFamilies, s.LoadBalancerSourceRanges = c.families, c.ranges }).Service
		d, err := r.Draft(t.Context(), reconcile.Job{Service: svc})
		if err != nil || d.Want == nil {
			t.Fatal(err, d.Problems)
		}
		var got []string
		for _, e := range stack.Each[model.Entry](d.Want, model.KindEntry) {
			if e.Direction == model.Ingress {
				got = append(got, e.Peer)
			}
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, c.want) {
			t.Errorf("%q for %q: %q, want %q", c.ranges, c.families, got, c.want)
		}
	}
}
