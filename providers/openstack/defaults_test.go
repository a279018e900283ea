package openstack_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/service/reconcile"
	common "github.com/berth-lb/berth/test/cases"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
)

// TestDefaults: the configuration has the default that an annotation declares, and an empty
// annotation overrides it where the official controller does.
func TestDefaults(t *testing.T) {
	const internal, class = "service.beta.kubernetes.io/openstack-internal-load-balancer", prefix + "class"
	w := startWorld(t, simopenstack.Options{}, "")
	seed := w.running.Cloud.Seed
	monitored := map[string]string{prefix + "enable-health-monitor": "true"}
	common.Defaults{
		Alone: common.Alone{
			Keys: model.Annotations(), Kinds: map[string]func(*corev1.Service){model.Octavia: nil},
			Values: map[string][]string{
				prefix + "floating-network-id": {seed.Second.ID, seed.Public.ID}, prefix + "floating-subnet-id": {seed.Public.Subnets[1].ID}, prefix + "floating-subnet": {"public-b"}, prefix + "floating-subnet-tags": {"partners"},
				prefix + "member-subnet-id": {seed.Other.Subnets[0].ID}, prefix + "health-monitor-max-retries-down": {"4"}, prefix + "network-id": {seed.Other.ID}, prefix + "subnet-id": {seed.Other.Subnets[0].ID},
				prefix + "node-selector": {"kubernetes.io/hostname=" + seed.KubernetesNodes()[1].Name, "kubernetes.io/hostname=" + seed.KubernetesNodes()[0].Name},
			},
		},
		With: map[string]map[string]string{
			prefix + "health-monitor-delay": monitored, prefix + "health-monitor-timeout": monitored,
			prefix + "health-monitor-max-retries": monitored, prefix + "health-monitor-max-retries-down": monitored,
			prefix + "network-id": {internal: "true"}, prefix + "subnet-id": {internal: "true"},
		},
		Elsewhere: map[string]string{prefix + "subnet-id, subnet-id": "the subnet of members"},
		Texts:     map[string]string{"monitor-delay": "10s", "monitor-timeout": "5s"},
		Under: func(t testing.TB, svc *corev1.Service, setting, value string) common.Effect {
			t.Helper()
			name, section := setting, "LoadBalancer"
			if of, ok := strings.CutPrefix(setting, "LoadBalancerClass "); ok {
				name, section = of, `LoadBalancerClass "inner"`
				svc.Annotations[class] = "inner"
			}
			w.config = common.Section(section, name, value)
			w.restart()
			d, err := w.process.Draft(t.Context(), reconcile.Job{Service: svc})
			if err != nil {
				t.Fatal(err)
			}
			return common.Effect{Want: d.Want, Problems: d.Problems}
		},
	}.Run(t)
}

// TestEmptyOverrides: a load balancer without TLS, of a Service whose empty annotation asks
// for that, needs no change under a configuration with a certificate for all Services.
func TestEmptyOverrides(t *testing.T) {
	w := startWorld(t, simopenstack.Options{}, "")
	svc := common.Plain()
	for _, name := range []string{"default-tls-container-ref", "flavor-id", "availability-zone"} {
		svc.Annotations[prefix+name] = ""
	}
	w.serve(svc)
	w.config = common.Section("LoadBalancer", "default-tls-container-ref", "https://barbican.example/v1/containers/5b0c4c66-8e5c-4c66-8e5c-0e5a5b3c9a61") +
		common.Section("LoadBalancer", "flavor-id", "5b0c4c66-8e5c-4c66-8e5c-0e5a5b3c9a61") + common.Section("LoadBalancer", "availability-zone", "az-1")
	w.restart()
	d, err := w.process.Draft(t.Context(), reconcile.Job{Service: svc})
	if err != nil {
		t.Fatal(err)
	}
	if !d.Plan.Empty() || len(d.Problems) > 0 {
		t.Errorf("plan:\n%s\nproblems: %v", common.PlanText("openstack", d.Plan), d.Problems)
	}
}
