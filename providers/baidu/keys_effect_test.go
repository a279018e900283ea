package baidu_test

import (
	"strings"
	"testing"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestCopied: a manifest that was exported from another Service gets a load balancer and an address of its own.
func TestCopied(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		w.Serve(account.Numbered(0, nil))
		first, bought := w.Sim.Cloud.Balancers()[0], w.Sim.Cloud.Addresses()[0]
		second := account.Numbered(1, map[string]string{lb + "cce-add-id": first, lb + "cce-add-eip": bought})
		w.Serve(second)
		if n, m := len(w.Sim.Cloud.Balancers()), len(w.Sim.Cloud.Addresses()); n != 2 || m != 2 {
			t.Errorf("%d load balancers and %d EIPs, want two of each", n, m)
		}
		w.Release(second)
		if left, addresses := w.Sim.Cloud.Balancers(), w.Sim.Cloud.Addresses(); len(left) != 1 || left[0] != first || len(addresses) != 1 || addresses[0] != bought {
			t.Errorf("load balancers %v and EIPs %v are left, want those of the first Service", left, addresses)
		}
	})
}

// TestKindOfExisting: an existing load balancer is served if it has the kind that the Service asks for, and
// otherwise refused without a write.
func TestKindOfExisting(t *testing.T) {
	for _, found := range []string{model.AppBLB, model.BLB} {
		for _, asked := range []string{model.AppBLB, model.BLB} {
			virtual.Run(t, found+" asked for as "+asked, func(t *testing.T) {
				w := beginWorld(t, withNodes(2))
				id := w.Sim.Cloud.AddBalancer(found, "by-hand", nil)
				svc := props.Service("web", map[string]string{lb + "id": id, kube + "cce-blb-type": asked}).Service
				if found == asked {
					w.Serve(svc)
					if n := len(w.Sim.Cloud.Forwards()); n != 2 {
						t.Errorf("%d ports are forwarded, want 2", n)
					}
					return
				}
				d, err := w.Process.Draft(t.Context(), reconcile.Job{Service: svc})
				if text := strings.Join(d.Problems.Strings(), "\n"); err != nil || !strings.Contains(text, "is not the kind of the load balancer") || !d.Plan.Empty() {
					t.Errorf("error %v, problems %s, %d steps", err, text, len(d.Plan.Steps))
				}
			})
		}
	}
}

// TestExcludedNodes: a node with one of the older labels is no backend.
func TestExcludedNodes(t *testing.T) {
	for _, label := range []string{"node-role.kubernetes.io/master", "alpha.service-controller.kubernetes.io/exclude-balancer"} {
		virtual.Run(t, label, func(t *testing.T) {
			w := beginWorld(t, withNodes(3))
			w.Machines[1].Labels = mergedLabels(w.Machines[1], label)
			w.Restart()
			w.Serve(props.Service("web", nil).Service)
			for _, f := range w.Sim.Cloud.Forwards() {
				if len(f.Targets) != 2 {
					t.Errorf("port %d has the backends %v, want 2", f.Port, f.Targets)
				}
			}
		})
	}
}

// mergedLabels returns the labels of a node with one more.
func mergedLabels(n nodeports.Node, label string) map[string]string {
	out := map[string]string{label: ""}
	for key, value := range n.Labels {
		out[key] = value
	}
	return out
}

// TestBandwidthOfZero: 0 asks for the default of a new address, and changes nothing of a live one.
func TestBandwidthOfZero(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		svc := props.Service("web", withKey(eip+"bandwidth-in-mbps", "0")).Service
		w.Serve(svc)
		check := func(want float64) {
			t.Helper()
			if got := w.Objects("eips")[0]["bandwidthInMbps"]; got != want {
				t.Errorf("the EIP has %v Mbit/s, want %v", got, want)
			}
		}
		check(1000)
		svc.Annotations[eip+"bandwidth-in-mbps"] = "20"
		w.Serve(svc)
		check(20)
		svc.Annotations[eip+"bandwidth-in-mbps"] = "0"
		w.Serve(svc)
		check(20)
	})
}
