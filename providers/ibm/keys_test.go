package ibm_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/ibm/model"
	"github.com/berth-lb/berth/service/reconcile"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
)

// keyCase is a key with a value that changes the cloud, and the annotations beside it.
type keyCase struct {
	key, value string
	with       []string
}

func keyCases(seed simibm.Seed) []keyCase {
	http := []string{"vpc-health-check-protocol", "http"}
	inDNS := []string{"ip-type", "private", "vpc-private-dns-instance-crn", "crn:v1:dns", "vpc-private-dns-zone-id", "example.com:1"}
	return []keyCase{
		{"ip-type", "private", nil}, {"enable-features", "Proxy-Protocol, alb", nil}, {"zone", "eu-de-2", nil},
		{"vpc-subnets", seed.Separate[0].Name + "," + seed.Subnets[1].CIDR + "," + seed.Subnets[2].ID, nil}, {"vpc-lb-name", "shop-web", nil},
		{"vpc-node-selector", "kubernetes.io/hostname=berthdemo-node-2", nil}, {"vpc-idle-connection-timeout", "120", nil}, {"vpc-member-quota", "1", nil},
		{"vpc-health-check-protocol", "http", nil}, {"vpc-health-check-port", "30081", http}, {"vpc-health-check-path", "/live", http},
		{"vpc-health-check-delay", "10", nil}, {"vpc-health-check-timeout", "4", nil}, {"vpc-health-check-retries", "3", nil},
		{"vpc-security-group", "web," + seed.Groups[1], nil},
		{"vpc-private-dns-instance-crn", "crn:v1:other", inDNS}, {"vpc-private-dns-zone-id", "example.com:2", inDNS},
		{"vpc-port-range", "80-90", []string{"enable-features", "nlb"}}, {"vpc-health-check-udp", "30082", []string{"enable-features", "nlb", "vpc-health-check-udp", "30081"}},
	}
}

// TestEveryKeyWorks: each key that works changes the cloud.
func TestEveryKeyWorks(t *testing.T) {
	seed := startCloud(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 6}}).running.Cloud.Seed
	tried := map[string]bool{}
	for _, c := range keyCases(seed) {
		t.Run(c.key, func(t *testing.T) {
			if stateWith(t, c.with...) == stateWith(t, append(c.with, c.key, c.value)...) {
				t.Errorf("%s: %q changes nothing", c.key, c.value)
			}
		})
		tried[prefix+c.key] = true
	}
	for _, row := range annotations.Rows(model.Annotations()) {
		if row.On == annotations.ServiceAnnotation && strings.HasPrefix(row.Key, prefix) && row.Support == annotations.Works && !tried[row.Key] {
			t.Errorf("%s: no case", row.Key)
		}
	}
}

// stateWith returns the cloud with one Service that is served, at a time that does not pass.
func stateWith(t *testing.T, pairs ...string) string {
	t.Helper()
	still := clocktesting.NewFakePassiveClock(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
	w := beginWorld(t, simibm.Options{Clock: still, Seed: simibm.SeedOptions{Nodes: 6}})
	var change []func(*corev1.ServiceSpec)
	if slices.Contains(pairs, "vpc-health-check-udp") {
		change = append(change, props.UDP)
	}
	w.serve(props.Service("web", withKeys(pairs...), change...).Service)
	text, err := json.Marshal(w.Control().State())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestKeysAlone: a key without what it needs changes the desired stack, or is reported.
func TestKeysAlone(t *testing.T) {
	s := startCloud(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 6}})
	process := props.Process(t, s.Open(t), s.Nodes())
	values := map[string][]string{}
	for _, c := range keyCases(s.running.Cloud.Seed) {
		values[prefix+c.key] = []string{c.value}
	}
	values[prefix+"ip-type"] = []string{"private", "public"} // a private path is private anyway
	common.Alone{
		Keys: model.Annotations(), Kinds: map[string]func(*corev1.Service){model.ALB: nil, model.NLB: askFor("nlb"), model.PrivatePath: askFor("private-path")}, Values: values,
		Effect: func(t testing.TB, svc *corev1.Service) common.Effect {
			d, err := process.Draft(t.Context(), reconcile.Job{Service: svc})
			if err != nil {
				t.Fatal(err)
			}
			return common.Effect{Want: d.Want, Problems: d.Problems}
		},
	}.Run(t)
}

// askFor asks for a kind of load balancer.
func askFor(feature string) func(*corev1.Service) {
	return func(svc *corev1.Service) {
		metav1.SetMetaDataAnnotation(&svc.ObjectMeta, prefix+"enable-features", feature)
	}
}
