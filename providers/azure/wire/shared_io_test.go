package wire

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/test/cases"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestSharedAddressOverHTTP: three Services with different ports are on one address: a
// public IP of the user, by name and by address, or a private one. They are deleted in
// every order. The ports of the remaining Services are served and open all the time, and
// the user's public IP is unchanged in the end.
func TestSharedAddressOverHTTP(t *testing.T) {
	for _, kind := range []string{model.Public, model.Internal} {
		for _, order := range cases.Orders(3) {
			virtual.Run(t, fmt.Sprint(kind, order), func(t *testing.T) {
				r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Addresses: 1}, ARM: simarm.Options{Async: simarm.AsyncNone}})
				user := r.sim.Cloud.Seed.Addresses[0]
				before := r.notOurs()
				var svcs []*corev1.Service
				for n := range 3 {
					svcs = append(svcs, numberedService(n+1, kind, func(s *corev1.Service) {
						s.Spec.Ports = s.Spec.Ports[:1]
						s.Spec.Ports[0].Port = int32(80 + n)
						s.Spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24"}
						switch {
						case kind == model.Internal:
							s.Spec.LoadBalancerIP = "10.240.7.7"
						case n == 0:
							s.Annotations["service.beta.kubernetes.io/azure-pip-name"] = user.Name
						default:
							s.Annotations["service.beta.kubernetes.io/azure-load-balancer-ipv4"] = user.IP
						}
					}))
				}
				r.runAll(false, svcs...)
				left := []int{0, 1, 2}
				for _, n := range order {
					r.runAll(true, svcs[n])
					left = slices.DeleteFunc(left, func(m int) bool { return m == n })
					var want []string
					for _, m := range left {
						want = append(want, fmt.Sprint(80+m))
					}
					served, open := r.ports(kind)
					if d := cmp.Diff([][]string{want, want}, [][]string{served, open}); d != "" {
						t.Fatalf("after %d: served, open (-want +got):\n%s", n, d)
					}
				}
				if d := cmp.Diff(before, r.notOurs()); d != "" {
					t.Errorf("in the end (-before +after):\n%s", d)
				}
			})
		}
	}
}

// ports are those of all rules of the load balancer and of the security group.
func (r *rig) ports(kind string) (served, open []string) {
	r.Helper()
	name := "kubernetes"
	if kind == model.Internal {
		name += "-internal"
	}
	lb, err := r.Session.get(r.Context(), r.Config.BalancerID(name), networkVersion)
	if err != nil {
		r.Fatal(err)
	}
	for _, rule := range lb.Props().List(model.ListRules) {
		served = append(served, fmt.Sprint(rule.Props()["frontendPort"]))
	}
	nsg, err := r.Session.get(r.Context(), r.Config.SecurityID(), networkVersion)
	if err != nil {
		r.Fatal(err)
	}
	for _, rule := range nsg.Props().List(model.ListSecurity) {
		open = append(open, rule.Props().Texts("destinationPortRanges")...)
		if one := rule.Props().Text("destinationPortRange"); one != "" {
			open = append(open, one)
		}
	}
	slices.Sort(served)
	slices.Sort(open)
	return served, open
}

// TestInterfacesLeaveTogether: the last Services of a load balancer whose pools have
// interfaces are deleted at the same time, and the load balancer is deleted with them.
func TestInterfacesLeaveTogether(t *testing.T) {
	for _, as := range []simazure.NodesAs{simazure.VMSS, simazure.VM} {
		virtual.Run(t, string(as), func(t *testing.T) {
			r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Pools: simazure.NodeNIC, NodesAs: as}, ARM: simarm.Options{Async: simarm.AsyncNone}})
			svcs := []*corev1.Service{numberedService(1, model.Internal, nil), numberedService(2, model.Internal, nil), numberedService(3, model.Internal, nil)}
			r.runAll(false, svcs...)
			for range 4 {
				r.tryTogether(svcs)
			}
			r.Gone(svcs...)
		})
	}
}

// tryTogether releases Services at the same time; Services that have to wait for others may
// fail.
func (r *rig) tryTogether(svcs []*corev1.Service) {
	r.Helper()
	for _, svc := range svcs {
		r.Ledger.Leave(cases.OwnerOf(svc))
	}
	r.Together(true, svcs...)
}
