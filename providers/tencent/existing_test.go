package tencent_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/tencent/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestExisting: an existing load balancer gets the Service's listeners, and loses only these with the
// Service. A listener of the user on a wanted port is left alone.
func TestExisting(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		lb := w.Sim.Cloud.AddBalancer(nil)
		mine := w.Sim.Cloud.AddListener(lb, "TCP", 8443, "made by hand")
		svc := props.Service("web", withKey(kube+"tke-existed-lbid", lb)).Service
		w.Serve(svc)
		if ports := len(w.Sim.Cloud.Forwards()); ports != 2 {
			t.Errorf("%d ports are forwarded, want 2", ports)
		}
		w.Restart(svc)
		w.Release(svc)
		if left := w.Sim.Cloud.Balancers(); len(left) != 1 || left[0] != lb {
			t.Errorf("load balancers %v are left, want %s", left, lb)
		}
		if w.Sim.Cloud.ListenerID(lb, "TCP", 8443) != mine || w.Sim.Cloud.ListenerID(lb, "TCP", 80) != "" {
			t.Error("the listener of the user is not the only one that is left")
		}
	})
}

// TestMarks: what does not carry the complete mark of the Service is neither changed nor deleted.
func TestMarks(t *testing.T) {
	svc := props.Service("web", nil).Service
	uid, cluster := string(svc.UID), "cls-berthdemo"
	for name, tags := range map[string]map[string]string{
		"another cluster": {model.TagCreated: "yes", model.TagCluster: "cls-other", model.TagService: uid},
		"no cluster":      {model.TagCreated: "yes", model.TagService: uid},
		"an old claim":    {uid: "tke-lb-serviceId", model.TagCluster: cluster},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			w := beginWorld(t, withNodes(2))
			lb := w.Sim.Cloud.AddBalancer(tags)
			res, err := w.Once(svc.DeepCopy(), false)
			if err != nil || res.Clean || w.Control().Journal.Writes() != 0 {
				t.Errorf("error %v, clean %v, %d writes", err, res.Clean, w.Control().Journal.Writes())
			}
			if text := strings.Join(res.Draft.Problems.Strings(), "\n"); !strings.Contains(text, "is not proven to be its own") {
				t.Errorf("problems %q", text)
			}
			w.Release(svc.DeepCopy())
			if left := w.Sim.Cloud.Balancers(); len(left) != 1 || left[0] != lb {
				t.Errorf("load balancers %v are left, want %s", left, lb)
			}
		})
	}
}

// TestForeign: an existing load balancer of another cluster or Service is refused.
func TestForeign(t *testing.T) {
	for name, tags := range map[string]map[string]string{
		"another cluster": {model.TagCluster: "cls-other"},
		"another Service": {model.TagCreated: "yes", model.TagCluster: "cls-berthdemo", model.TagService: "0f1e2d3c"},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			w := beginWorld(t, withNodes(2))
			lb := w.Sim.Cloud.AddBalancer(tags)
			d, err := w.Process.Draft(t.Context(), reconcile.Job{Service: props.Service("web", withKey(kube+"tke-existed-lbid", lb)).Service})
			if err != nil || !d.Problems.Errors() || !d.Plan.Empty() {
				t.Errorf("error %v, problems %v, %d steps", err, d.Problems, len(d.Plan.Steps))
			}
		})
	}
}

// TestSkipped: with mode skip a Service is left alone, and nothing is deleted with it.
func TestSkipped(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		svc := props.Service("web", nil).Service
		w.Serve(svc)
		svc.Annotations = withKey(cloud+"mode", "skip")
		w.Restart()
		w.Release(svc)
		if left := w.Sim.Cloud.Balancers(); len(left) != 1 || model.Choose(svc).Elsewhere == "" {
			t.Errorf("load balancers %v are left, want one; %q", left, model.Choose(svc).Elsewhere)
		}
	})
}

// TestBackendsOfPods: the keys about pods have the pods of a Service matter.
func TestBackendsOfPods(t *testing.T) {
	local := func(s *corev1.ServiceSpec) { s.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal }
	for key, change := range map[string]func(*corev1.ServiceSpec){cloud + "direct-access": nil, kube + "local-svc-only-bind-node-with-pod": local} {
		if !model.NeedsEndpoints(model.Config{}, props.Service("web", withKey(key, "true"), change).Service) || model.NeedsEndpoints(model.Config{}, props.Service("web", nil, change).Service) {
			t.Errorf("%s: endpoints do not follow from it", key)
		}
	}
}

// TestPortOfOtherAfterRestart: a Service whose port another one has on an existing load balancer is the first one
// that a new process reads. The listener has no targets, so that only the note of the other Service says whose it is.
func TestPortOfOtherAfterRestart(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		keys := withKey(existed, w.Sim.Cloud.AddBalancer(nil))
		keys[cloud+"direct-access"] = "true"
		first, second := props.Service("web", keys).Service, account.Numbered(1, keys)
		w.Serve(first)
		w.Process = reconcile.New(w.Open(t), reconcile.Options{})
		w.Process.SetNodes(w.Machines)
		said := func(svc *corev1.Service) string {
			t.Helper()
			w.Control().Journal.Reset()
			res, err := w.Once(svc, false)
			if err != nil || w.Control().Journal.Writes() != 0 {
				t.Fatalf("%v; %d writes", err, w.Control().Journal.Writes())
			}
			for _, r := range res.Draft.Have.Of(model.KindListener) {
				if proven := r.Proof != stack.None; proven != (svc == first) {
					t.Errorf("%s: %s is its own: %v", svc.Name, r.Key, proven)
				}
			}
			return strings.Join(res.Draft.Problems.Strings(), "\n")
		}
		if text := said(second); strings.Contains(text, "is taken") {
			t.Errorf("before it is known: %s", text)
		}
		said(first)
		w.Process.AllKnown()
		if text := said(second); !strings.Contains(text, "of Service "+first.Namespace+"/"+first.Name) {
			t.Errorf("problems %q", text)
		}
	})
}

// TestPortOfOther: see account.Cloud.PortOfOther.
func TestPortOfOther(t *testing.T) {
	onTencent().PortOfOther(t, withNodes(2), func(s simulated) map[string]string { return withKey(existed, s.Cloud.AddBalancer(nil)) })
}
