package model

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/cases"
)

// TestDefaults: the configuration has the defaults that annotations declare.
func TestDefaults(t *testing.T) {
	a := keysAlone(t)
	plain := a.world.Config
	a.world.Facts.LinkGroups = []string{"links"}
	link := map[string]string{linkCreateKey.Name: "true"}
	const whole = "the group of all resources"
	cases.Defaults{
		Alone: cases.Alone{
			Keys: bundle().Annotations,
			Kinds: map[string]func(*corev1.Service){
				Public:   nil,
				Internal: func(svc *corev1.Service) { svc.Annotations[internalKey.Name] = "true" },
			},
			Values: map[string][]string{subnetKey.Name: {"backend", "nodes"}, linkSubnetKey.Name: {"backend"}},
		},
		With: map[string]map[string]string{linkGroupKey.Name: link, linkSubnetKey.Name: link},
		Elsewhere: map[string]string{
			groupKey.Name + ", resourceGroup":          whole,
			linkGroupKey.Name + ", resourceGroup":      whole,
			subnetKey.Name + ", subnetName":            "names of the frontend, its rules and probes",
			linkSubnetKey.Name + ", subnetName":        "the subnet of the address",
			linkSubnetKey.Name + ", " + subnetKey.Name: "the subnet of the address",
		},
		Under: func(t testing.TB, svc *corev1.Service, setting, value string) cases.Effect {
			t.Helper()
			fields := map[string]any{}
			if err := json.Unmarshal([]byte(plain), &fields); err != nil {
				t.Fatal(err)
			}
			fields["loadBalancerBackendPoolConfigurationType"] = poolNIC
			if setting != "" {
				fields[setting] = value
			}
			text, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			a.config = parseConfig(t, string(text))
			effect, _ := a.existing(t, nil, svc)
			return effect
		},
	}.Run(t)
}
