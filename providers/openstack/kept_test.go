package openstack_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	common "github.com/berth-lb/berth/test/cases"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
)

// TestKeysLive: a value that an existing load balancer does not get is reported.
func TestKeysLive(t *testing.T) {
	w, empty := startWorld(t, simopenstack.Options{}, ""), startWorld(t, simopenstack.Options{}, "")
	w.serve(common.Plain())
	w.restart()
	effect := func(t testing.TB, w *world, svc *corev1.Service) (common.Effect, *stack.Stack) {
		d, err := w.process.Draft(t.Context(), reconcile.Job{Service: svc})
		if err != nil {
			t.Fatal(err)
		}
		return common.Effect{Want: d.Want, Problems: d.Problems}, d.Have
	}
	common.Kept{
		Alone: common.Alone{
			Keys: model.Annotations(), Kinds: map[string]func(*corev1.Service){model.Octavia: nil},
			Values: map[string][]string{
				prefix + "floating-network-id": {w.running.Cloud.Seed.Second.ID}, prefix + "subnet-id": {w.running.Cloud.Seed.Other.Subnets[0].ID},
			},
			Effect: func(t testing.TB, svc *corev1.Service) common.Effect {
				out, _ := effect(t, empty, svc)
				return out
			},
		},
		Existing: func(t testing.TB, _, svc *corev1.Service) (common.Effect, *stack.Stack) { return effect(t, w, svc) },
		Rules:    model.Rules(),
		Chosen:   []string{"floating-ip.Subnets"}, // the address decides, see TestFloatingSubnetOfALiveAddress
	}.Run(t)
}

// TestFloatingSubnetOfALiveAddress: a floating IP that is from another subnet than the
// Service names is reported; one that is from a subnet that it names is not.
func TestFloatingSubnetOfALiveAddress(t *testing.T) {
	w := startWorld(t, simopenstack.Options{}, "")
	seed := w.running.Cloud.Seed
	svc := common.Plain()
	w.serve(svc)
	for _, tc := range []struct {
		key, value string
		reported   bool
	}{
		{"floating-subnet-id", seed.Public.Subnets[1].ID, true}, {"floating-subnet", "public-b", true}, {"floating-subnet-tags", "partners", true},
		{"floating-subnet-id", seed.Public.Subnets[0].ID, false}, {"floating-subnet", "public*", false},
	} {
		changed := svc.DeepCopy()
		changed.Annotations[prefix+tc.key] = tc.value
		w.restart()
		d, err := w.process.Draft(t.Context(), reconcile.Job{Service: changed})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Problems.Unapplied(); len(got) > 0 != tc.reported {
			t.Errorf("%s %q: %v", tc.key, tc.value, got)
		}
	}
}
