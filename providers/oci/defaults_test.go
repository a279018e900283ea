package oci_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/service/reconcile"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
)

// TestDefaults: the configuration has the default that an annotation declares.
func TestDefaults(t *testing.T) {
	s := subject{running: simtest.Start(t, simoci.Options{Seed: simoci.SeedOptions{Nodes: 3}})}
	seed := s.running.Cloud.Seed
	common.Defaults{
		Alone: common.Alone{
			Keys: model.Annotations(),
			Kinds: map[string]func(*corev1.Service){
				model.LB: nil, model.NLB: func(svc *corev1.Service) { svc.Annotations[prefix+"load-balancer-type"] = "nlb" },
			},
			Values: map[string][]string{
				oldPrefix + "subnet1": {seed.Zonal[0].ID}, oldPrefix + "subnet2": {seed.Zonal[1].ID}, netPrefix + "subnet": {seed.Zonal[0].ID},
				oldPrefix + "security-list-management-mode": {"None", "Frontend"},
			},
		},
		With: map[string]map[string]string{
			oldPrefix + "subnet1": {oldPrefix + "subnet2": seed.Zonal[1].ID}, oldPrefix + "subnet2": {oldPrefix + "subnet1": seed.Zonal[0].ID},
		},
		Elsewhere: map[string]string{
			prefix + "compartment-id, compartment": "where the nodes and subnets are looked up",
		},
		Under: func(t testing.TB, svc *corev1.Service, setting, value string) common.Effect {
			t.Helper()
			under := s
			if setting != "" {
				under.edit = func(config []byte) []byte { return withValue(t, config, strings.Split(setting, "."), value) }
			}
			d, err := props.Process(t, under.Open(t), s.Nodes()).Draft(t.Context(), reconcile.Job{Service: svc})
			if err != nil {
				t.Fatal(err)
			}
			return common.Effect{Want: d.Want, Problems: d.Problems}
		},
	}.Run(t)
}

// withValue returns a configuration in which the value at a path is replaced.
func withValue(t testing.TB, config []byte, path []string, value string) []byte {
	t.Helper()
	whole := map[string]any{}
	if err := yaml.Unmarshal(config, &whole); err != nil {
		t.Fatal(err)
	}
	at, last := whole, len(path)-1
	for _, name := range path[:last] {
		inner, ok := at[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			at[name] = inner
		}
		at = inner
	}
	var parsed any
	if err := yaml.Unmarshal([]byte(value), &parsed); err != nil {
		t.Fatal(err)
	}
	at[path[last]] = parsed
	out, err := yaml.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
