package wire

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/azure/model"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestNamespaceLabelChanges: a Service moves when the labels of its namespace no
// longer fit where it is, with its address, and stays when they still do.
func TestNamespaceLabelChanges(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Nodes: 6}, ARM: simarm.Options{Async: simarm.AsyncNone}})
		r.edit = [2]string{"{", `{"multipleStandardLoadBalancerConfigurations": [
			{"name": "kubernetes", "primaryVMSet": "none"},
			{"name": "second", "primaryVMSet": "nothing", "serviceNamespaceSelector": {"matchExpressions": [{"key": "env", "operator": "In", "values": ["prod", "live"]}]}}],`}
		r.open()
		svcs := []*corev1.Service{numberedService(1, model.Public, nil), numberedService(2, model.Internal, nil), numberedService(3, model.Public, labelFront)}
		address := map[string]string{}
		for _, step := range []struct {
			what  string
			label string
			want  []string
		}{
			{"none yet", "", []string{"kubernetes", "kubernetes-internal", "kubernetes"}},
			{"another selector fits", "live", []string{"second", "second-internal", "second"}},
			{"where they are still fits", "prod", []string{"second", "second-internal", "second"}},
			{"nothing fits any more", "test", []string{"kubernetes", "kubernetes-internal", "kubernetes"}},
		} {
			r.Labels = map[string]string{"env": step.label}
			r.runAll(false, svcs...)
			r.runAll(false, svcs...)
			for i, svc := range svcs {
				if got := r.where(svc); got != step.want[i] {
					t.Errorf("%s: %s is on %q, want %s", step.what, svc.Name, got, step.want[i])
				}
				now := r.address(svc)
				if before := address[svc.Name]; now == "" || before != "" && before != now {
					t.Errorf("%s: %s had the address %q and has %q", step.what, svc.Name, before, now)
				}
				address[svc.Name] = now
				svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: now}} // as the loop writes it
			}
		}
		r.restThenLeave(svcs...)
	})
}

// address is what clients of a Service use.
func (r *rig) address(svc *corev1.Service) string {
	r.Helper()
	result := model.Cloud().Status(r.Input(svc), r.Read(false, svc)[0].Have)
	if len(result.Ingress) != 1 {
		r.Fatalf("%s: addresses %v", svc.Name, result.Ingress)
	}
	return result.Ingress[0].IP
}
