package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/cases"
)

// TestKeysAlone: a key without what it needs changes something, or is reported.
func TestKeysAlone(t *testing.T) {
	var w world
	cases.ReadWorld(t, &w)
	config := parseConfig(t, w.Config)
	cases.Alone{
		Keys: bundle().Annotations,
		Kinds: map[string]func(*corev1.Service){
			Public: func(svc *corev1.Service) { svc.Spec.LoadBalancerIP = "20.2.2.2" },
			Internal: func(svc *corev1.Service) {
				svc.Spec.LoadBalancerIP, svc.Annotations[internalKey.Name] = "10.240.0.30", "true"
			},
		},
		Except: map[string]string{additionalKey.Name: "the status of internal Services has it, see TestAddresses"},
		Effect: func(t testing.TB, svc *corev1.Service) cases.Effect {
			in, problems := inputOf(config, w.ClusterName, svc, w.Nodes)
			a := newARM(t, config, w.ClusterName, w.Facts)
			a.pips["rg/theirs"] = a.wire(Object{"name": "theirs", "id": ARMID("sub", "rg", "publicIPAddresses", "theirs"), "properties": map[string]any{"ipAddress": "20.2.2.2"}})
			want, more, err := build(in, a.read(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return cases.Effect{Want: want, Status: bundle().Status(in, want), Problems: append(problems, more...)}
		},
	}.Run(t)
}
