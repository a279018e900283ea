package openstack_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/service/reconcile"
	common "github.com/berth-lb/berth/test/cases"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
)

// TestKeysAlone: a key without what it needs changes the desired stack, or is reported, on
// Services with a floating IP and without.
func TestKeysAlone(t *testing.T) {
	const internal = "service.beta.kubernetes.io/openstack-internal-load-balancer"
	w := startWorld(t, simopenstack.Options{}, "")
	for name, of := range map[string]func(*corev1.Service){
		"public": nil, "internal": func(svc *corev1.Service) { svc.Annotations[internal] = "true" },
	} {
		t.Run(name, func(t *testing.T) {
			common.Alone{
				Keys: model.Annotations(), Kinds: map[string]func(*corev1.Service){model.Octavia: of},
				Values: map[string][]string{internal: {"false"}, prefix + "floating-network-id": {w.running.Cloud.Seed.Second.ID}},
				Except: map[string]string{
					prefix + "hostname":        "the status has it, see TestEveryKeyWorks",
					prefix + "keep-floatingip": "it acts on deletion, see TestEveryKeyWorks",
				},
				Effect: func(t testing.TB, svc *corev1.Service) common.Effect {
					d, err := w.process.Draft(t.Context(), reconcile.Job{Service: svc})
					if err != nil {
						t.Fatal(err)
					}
					return common.Effect{Want: d.Want, Problems: d.Problems}
				},
			}.Run(t)
		})
	}
}
