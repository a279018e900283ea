package oci_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
)

// TestKeysLive: a value that an existing load balancer does not get is reported.
func TestKeysLive(t *testing.T) {
	for kind, of := range map[string]func(*corev1.Service){
		model.LB: nil, model.NLB: func(svc *corev1.Service) { svc.Annotations[prefix+"load-balancer-type"] = "nlb" },
	} {
		t.Run(kind, func(t *testing.T) { keysLive(t, kind, of) })
	}
}

// kindOf names the kinds of resources of load balancers.
var kindOf = map[string]string{model.LB: "load-balancer", model.NLB: "network-load-balancer"}

func keysLive(t *testing.T, kind string, of func(*corev1.Service)) {
	started := func() (*reconcile.Reconciler, subject) {
		s := subject{running: simtest.Start(t, simoci.Options{Seed: simoci.SeedOptions{Nodes: 3, DualStack: true}})}
		return props.Process(t, s.Open(t), s.Nodes()), s
	}
	live, s := started()
	empty, _ := started()
	later := props.Process(t, s.Open(t), s.Nodes())
	seed := s.running.Cloud.Seed
	was := common.Plain()
	if of != nil {
		of(was)
	}
	for clean := false; !clean; {
		res, err := props.Work(t.Context(), live, reconcile.Job{Service: was})
		if err != nil || res.Err != nil {
			t.Fatal(err, res.Err)
		}
		clean = res.Clean
	}
	effect := func(t testing.TB, r *reconcile.Reconciler, svc *corev1.Service) (common.Effect, *stack.Stack) {
		d, err := r.Draft(t.Context(), reconcile.Job{Service: svc})
		if err != nil {
			t.Fatal(err)
		}
		return common.Effect{Want: d.Want, Problems: d.Problems}, d.Have
	}
	common.Kept{
		Alone: common.Alone{
			Keys: model.Annotations(), Kinds: map[string]func(*corev1.Service){kind: of},
			Values: map[string][]string{oldPrefix + "subnet1": {seed.Zonal[1].ID}, netPrefix + "subnet": {seed.Zonal[1].ID}},
			Effect: func(t testing.TB, svc *corev1.Service) common.Effect {
				out, _ := effect(t, empty, svc)
				return out
			},
		},
		Existing: func(t testing.TB, _, svc *corev1.Service) (common.Effect, *stack.Stack) { return effect(t, later, svc) },
		Rules:    model.Rules(),
		Chosen:   []string{kindOf[kind] + ".Addresses", "listener.Name"},
		Holds: map[string]string{
			prefix + "workload-service-account":          "it changes the identity of calls, see TestServiceAccount",
			prefix + "initial-defined-tags-override":     "initial tags are those of the creation",
			prefix + "initial-freeform-tags-override":    "initial tags are those of the creation",
			netPrefix + "initial-defined-tags-override":  "initial tags are those of the creation",
			netPrefix + "initial-freeform-tags-override": "initial tags are those of the creation",
		},
	}.Run(t)
}
