package baidu_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestExisting: an existing load balancer gets the Service's listeners, and loses only these with the
// Service. On an application load balancer a listener of the user on a wanted port is left alone.
func TestExisting(t *testing.T) {
	for kind, key := range map[string]string{model.AppBLB: lb + "id", model.BLB: lb + "exist-id"} {
		virtual.Run(t, kind, func(t *testing.T) {
			w := beginWorld(t, withNodes(2))
			id := w.Sim.Cloud.AddBalancer(kind, "by-hand", nil)
			if kind == model.AppBLB {
				w.Sim.Cloud.AddListener(id, "TCP", 8443)
			}
			svc := props.Service("web", withKey(key, id)).Service
			w.Serve(svc)
			if ports := len(w.Sim.Cloud.Forwards()); ports != 2 {
				t.Errorf("%d ports are forwarded, want 2", ports)
			}
			w.Restart(svc)
			w.Release(svc)
			if left := w.Sim.Cloud.Balancers(); !slices.Equal(left, []string{id}) {
				t.Errorf("load balancers %v are left, want %s", left, id)
			}
			want := map[string]int{model.AppBLB: 1, model.BLB: 0}[kind]
			if left := w.Objects("listeners"); len(left) != want {
				t.Errorf("listeners %v are left, want %d", left, want)
			}
		})
	}
}

// TestOlderName: a normal load balancer with the exact name of the open controllers is used on with an
// empty plan for its listeners, follows the nodes, and stays.
func TestOlderName(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(3))
		svc := props.Service("web", nil).Service
		id := w.Sim.Cloud.AddBalancer(model.BLB, "CCE/SVC/cce-berthdemo/"+svc.Namespace+"/"+svc.Name, nil)
		other := w.Sim.Cloud.AddBalancer(model.BLB, "CCE/SVC/cce-berthdemo/"+svc.Namespace+"/"+svc.Name+"-2", nil)
		for _, p := range svc.Spec.Ports {
			w.Sim.Cloud.AddNormalListener(id, string(p.Protocol), int(p.Port), int(p.NodePort))
		}
		w.Serve(svc)
		if creates := w.Control().Journal.Counts()["blb.CreateTCPListener"]; creates != 0 {
			t.Errorf("%d listeners were created", creates)
		}
		if f := w.Sim.Cloud.Forwards(); len(f) != 2 || len(f[0].Targets) != 3 {
			t.Errorf("forwards %v", f)
		}
		w.Release(svc)
		if left := w.Sim.Cloud.Balancers(); !slices.Contains(left, id) || !slices.Contains(left, other) {
			t.Errorf("load balancers %v are left", left)
		}
	})
}

// TestShared: listeners of others on a normal load balancer have the same backends, so it is refused.
func TestShared(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		id := w.Sim.Cloud.AddBalancer(model.BLB, "by-hand", nil)
		w.Sim.Cloud.AddNormalListener(id, "TCP", 9999, 30999)
		d, err := w.Process.Draft(t.Context(), reconcile.Job{Service: props.Service("web", withKey(lb+"id", id)).Service})
		if err != nil || !d.Problems.Errors() || !d.Plan.Empty() {
			t.Errorf("error %v, problems %v, %d steps", err, d.Problems, len(d.Plan.Steps))
		}
	})
}

// TestMarks: what does not carry the complete mark of the Service is neither changed nor deleted.
func TestMarks(t *testing.T) {
	svc := props.Service("web", nil).Service
	own := model.OwnerMark("cce-berthdemo", string(svc.UID))
	for name, tags := range map[string]map[string]string{
		"only used":       {model.TagUsed: own},
		"another cluster": {model.TagCreated: model.OwnerMark("cce-other", string(svc.UID))},
		"a longer UID":    {model.TagCreated: own + "0"},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			w := beginWorld(t, withNodes(2))
			id := w.Sim.Cloud.AddBalancer(model.AppBLB, "found", tags)
			before := w.Sim.Cloud.Balancer(id)
			for range 3 {
				if _, err := w.Once(svc.DeepCopy(), false); err != nil {
					t.Fatal(err)
				}
			}
			w.Release(svc.DeepCopy())
			if after := w.Sim.Cloud.Balancer(id); after == nil || after.Text("name") != before.Text("name") || len(w.Sim.Cloud.Balancers()) != 1 {
				t.Errorf("load balancers %v are left, want %s", w.Sim.Cloud.Balancers(), id)
			}
		})
	}
}

// TestForeign: an existing load balancer of another cluster or Service, or one of both kinds, is refused
// without a write.
func TestForeign(t *testing.T) {
	for name, tags := range map[string]map[string]string{
		"another cluster": {model.TagUsed: "cce-other"},
		"another Service": {model.TagCreated: model.OwnerMark("cce-berthdemo", "0f1e2d3c")},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			w := beginWorld(t, withNodes(2))
			id := w.Sim.Cloud.AddBalancer(model.AppBLB, "by-hand", tags)
			d, err := w.Process.Draft(t.Context(), reconcile.Job{Service: props.Service("web", withKey(lb+"id", id)).Service})
			if err != nil || !d.Problems.Errors() || !d.Plan.Empty() {
				t.Errorf("error %v, problems %v, %d steps", err, d.Problems, len(d.Plan.Steps))
			}
		})
	}
}

// TestReserved: with the key the load balancer stays, and its address does not.
func TestReserved(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		svc := props.Service("web", withKey(lb+"reserve-lb", "true")).Service
		w.Serve(svc)
		w.Release(svc)
		if left, addresses := w.Sim.Cloud.Balancers(), w.Objects("eips"); len(left) != 1 || len(addresses) != 0 {
			t.Errorf("load balancers %v and EIPs %v are left, want one and none", left, addresses)
		}
	})
}

// TestPrepaid: a prepaid address is not deleted with the Service, which says so while it lives.
func TestPrepaid(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		svc := props.Service("web", map[string]string{eip + "payment-timing": "Prepaid", eip + "reservation-length": "1"}).Service
		w.Serve(svc)
		w.Restart(svc)
		d, err := w.Process.Draft(t.Context(), reconcile.Job{Service: svc})
		if text := strings.Join(d.Problems.Strings(), "\n"); err != nil || !strings.Contains(text, "is prepaid") {
			t.Errorf("error %v, problems %s", err, text)
		}
		w.Release(svc)
		if left := w.Objects("eips"); len(left) != 1 || left[0].Text("status") != "available" {
			t.Errorf("EIPs %v are left, want one that is free", left)
		}
	})
}

// TestUDP: the text of health checks follows the key, and a Service without it is warned.
func TestUDP(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		svc := props.Service("web", withKey(lb+"health-check-string", "ping"), withUDP).Service
		w.Serve(svc)
		texts := 0
		for _, target := range w.Objects("group_ports") {
			if target.Text("udpHealthCheckString") == "ping" {
				texts++
			}
		}
		if texts != 1 {
			t.Errorf("%d checks have the text, want 1", texts)
		}
	})
}

// TestBackendsOfPods: pods matter where they are backends, and where only nodes with a pod are.
func TestBackendsOfPods(t *testing.T) {
	local := func(s *corev1.ServiceSpec) { s.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal }
	for name, svc := range map[string]*corev1.Service{"pods": props.Service("web", withKey(pods, "true")).Service, "local": props.Service("web", nil, local).Service} {
		if !model.NeedsEndpoints(model.Config{}, svc) {
			t.Errorf("%s: endpoints do not follow from it", name)
		}
	}
	if model.NeedsEndpoints(model.Config{}, props.Service("web", nil).Service) {
		t.Error("endpoints follow from a plain Service")
	}
}

// TestPortOfOther: see account.Cloud.PortOfOther.
func TestPortOfOther(t *testing.T) {
	onBaidu().PortOfOther(t, withNodes(2), func(s simulated) map[string]string {
		return withKey(lb+"id", s.Cloud.AddBalancer(model.AppBLB, "by-hand", nil))
	})
}
