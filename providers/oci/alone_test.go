package oci_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/service/reconcile"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
)

// TestKeysAlone: a key without what it needs changes the desired stack, or is reported.
func TestKeysAlone(t *testing.T) {
	s := subject{running: simtest.Start(t, simoci.Options{Seed: simoci.SeedOptions{Nodes: 3, DualStack: true}})}
	process, seed := props.Process(t, s.Open(t), s.Nodes()), s.running.Cloud.Seed
	common.Alone{
		Keys: model.Annotations(),
		Kinds: map[string]func(*corev1.Service){
			model.LB: nil, model.NLB: func(svc *corev1.Service) { svc.Annotations[prefix+"load-balancer-type"] = "nlb" },
		},
		Values: map[string][]string{
			prefix + "load-balancer-type":     {"lb"},
			oldPrefix + "subnet2":             {seed.Zonal[1].ID},
			prefix + "node-label-selector":    {"kubernetes.io/hostname in (berth-demo-node-2)"},
			netPrefix + "node-label-selector": {"kubernetes.io/hostname in (berth-demo-node-2)"},
		},
		Except: map[string]string{
			prefix + "ingress-ip-mode":          "the status has it, see TestEveryKeyWorks",
			netPrefix + "external-ip-only":      "the status has it, see TestEveryKeyWorks",
			prefix + "workload-service-account": "it changes who calls, see TestServiceAccount",
		},
		Effect: func(t testing.TB, svc *corev1.Service) common.Effect {
			d, err := process.Draft(t.Context(), reconcile.Job{Service: svc})
			if err != nil {
				t.Fatal(err)
			}
			return common.Effect{Want: d.Want, Problems: d.Problems}
		},
	}.Run(t)
}
