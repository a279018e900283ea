package wire

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestInternalIPv6IsHeld: a change that replaces the rules of an internal load
// balancer of both families keeps both addresses.
func TestInternalIPv6IsHeld(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{}, "")
		svc := testService(1, negClass, func(s *corev1.Service) {
			s.Annotations["networking.gke.io/load-balancer-subnet"] = "berth-demo-dual-internal"
			s.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
		})
		ips := func(have *stack.Stack) (out []string) {
			for _, rule := range stack.Each[model.Rule](have, model.KindInternalRule) {
				out = append(out, rule.IP)
			}
			slices.Sort(out)
			return out
		}
		before := ips(r.arrive(svc))
		svc.Spec.Ports[1].Port = 8443
		svc.Spec.Ports[0].Protocol, svc.Spec.Ports[1].Protocol = corev1.ProtocolUDP, corev1.ProtocolUDP
		if after := ips(r.arrive(svc)); len(after) != 2 || !slices.Equal(before, after) {
			t.Errorf("the addresses were %v and are %v", before, after)
		}
	})
}

// TestPrefixThatNotAllHave: with a prefix for nodes that some of them lack, all of
// them are in the target pool, as officially.
func TestPrefixThatNotAllHave(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{}, "\n[global]\nnode-instance-prefix = berth-demo-node-1\n")
		have := r.arrive(testService(1, poolClass, nil))
		if p, _ := have.Of(model.KindPool)[0].Spec.(model.Pool); len(p.Instances) != len(r.Nodes) {
			t.Errorf("%d of %d nodes are in the pool: %v", len(p.Instances), len(r.Nodes), p.Instances)
		}
	})
}

// TestSubnetsNotListed: a cluster in a shared VPC that may use subnets but not list
// them gets its load balancers, of all kinds.
func TestSubnetsNotListed(t *testing.T) {
	for _, get := range []bool{true, false} {
		for kind, class := range kindClasses() {
			virtual.Run(t, fmt.Sprint(kind, " may get ", get), func(t *testing.T) {
				r := newRig(t, simgce.Options{}, "")
				r.fault(sim.Fault{Operation: "subnetworks.list", Kind: sim.FaultError, Code: "forbidden"})
				if !get {
					r.fault(sim.Fault{Operation: "subnetworks.get", Kind: sim.FaultError, Code: "forbidden"})
				}
				svc := testService(1, class, nil)
				r.arrive(svc)
				r.leave(svc)
			})
		}
	}
}
