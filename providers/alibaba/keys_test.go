package alibaba_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/service/reconcile"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
)

// keyCase is a key with a value that changes the cloud, and the annotations beside it.
type keyCase struct {
	key, value string
	with       []string
}

func keyCases(seed simalibaba.Seed) []keyCase {
	intranet := []string{"address-type", "intranet"}
	web := []string{"protocol-port", "http:80", "health-check-flag", "on"}
	secure := []string{"protocol-port", "https:80", "cert-id", seed.Certificates[0]}
	sticky := append(slices.Clone(web), "sticky-session", "on", "sticky-session-type", "insert", "cookie-timeout", "60")
	return []keyCase{
		{"address-type", "intranet", nil}, {"network-type", "classic", intranet}, {"vswitch-id", seed.VSwitches[2].ID, intranet}, {"ip", "192.168.1.77", intranet},
		{"master-zoneid", "cn-hangzhou-j", nil}, {"slave-zoneid", "cn-hangzhou-k", []string{"master-zoneid", "cn-hangzhou-j"}}, {"name", "shop", nil}, {"resource-group-id", "rg-1", nil},
		{"additional-resource-tags", "Team=web", nil}, {"delete-protection", "off", nil}, {"modification-protection", "NonProtection", nil},
		{"instance-charge-type", "PayBySpec", nil}, {"spec", "slb.s2.small", []string{"instance-charge-type", "PayBySpec"}},
		{"charge-type", "paybybandwidth", nil}, {"bandwidth", "20", []string{"charge-type", "paybybandwidth"}},
		{"protocol-port", "http:80", nil}, {"scheduler", "wlc", nil}, {"persistence-timeout", "60", nil}, {"established-timeout", "60", nil},
		{"connection-drain", "on", nil}, {"connection-drain-timeout", "30", []string{"connection-drain", "on"}}, {"proxy-protocol", "on", nil},
		{"idle-timeout", "20", web}, {"request-timeout", "20", web}, {"sticky-session", "on", []string{"protocol-port", "http:80", "sticky-session-type", "server", "cookie", "s"}},
		{"sticky-session-type", "insert", []string{"protocol-port", "http:80", "cookie-timeout", "60"}}, {"cookie", "s", sticky}, {"cookie-timeout", "60", web},
		{"xforwardedfor-proto", "on", web}, {"xforwardedfor-slbport", "on", web}, {"xforwardedfor-clientsrcport", "on", web},
		{"cert-id", seed.Certificates[1], secure}, {"tls-cipher-policy", "tls_cipher_policy_1_2", secure},
		{"health-check-flag", "on", []string{"protocol-port", "http:80"}}, {"health-check-switch", "off", nil}, {"health-check-type", "http", nil},
		{"health-check-uri", "/live", web}, {"health-check-connect-port", "8080", nil}, {"healthy-threshold", "5", nil}, {"unhealthy-threshold", "5", nil}, {"health-check-interval", "5", nil},
		{"health-check-connect-timeout", "9", nil}, {"health-check-timeout", "9", web}, {"health-check-domain", "shop.example.com", web}, {"health-check-httpcode", "http_2xx,http_3xx", web}, {"health-check-method", "get", web},
		{"default-weight", "50", nil}, {"backend-label", "kubernetes.io/hostname=berthdemo-node-2", nil},
	}
}

// silentKeys change nothing in the cloud: their effect is elsewhere, or on existing servers.
func silentKeys() []string {
	return []string{"hostname", "preserve-lb-on-delete", "remove-unscheduled-backend", "ip-version", "ignore-weight-update", "type", "tunnel-type"}
}

// TestEveryKeyWorks: each key that works changes the cloud.
func TestEveryKeyWorks(t *testing.T) {
	seed := startCloud(t, simalibaba.Options{Seed: simalibaba.SeedOptions{Nodes: 6}}).running.Cloud.Seed
	tried := map[string]bool{}
	for _, c := range keyCases(seed) {
		t.Run(c.key, func(t *testing.T) {
			if stateWith(t, c.with...) == stateWith(t, replaceKey(c.with, c.key, c.value)...) {
				t.Errorf("%s: %q changes nothing", c.key, c.value)
			}
		})
		tried[prefix+c.key] = true
	}
	for _, name := range silentKeys() {
		tried[prefix+name] = true
	}
	for _, row := range annotations.Rows(model.Annotations()) {
		if row.On == annotations.ServiceAnnotation && strings.HasPrefix(row.Key, prefix) && row.Support == annotations.Works && !tried[row.Key] {
			t.Errorf("%s: no case", row.Key)
		}
	}
}

// replaceKey returns annotations with one of another value.
func replaceKey(with []string, key, value string) []string {
	out := slices.Clone(with)
	for i := 0; i < len(out); i += 2 {
		if out[i] == key {
			out[i+1] = value
			return out
		}
	}
	return append(out, key, value)
}

// stateWith returns the cloud with one Service that is served, at a time that does not pass.
func stateWith(t *testing.T, pairs ...string) string {
	t.Helper()
	still := clocktesting.NewFakePassiveClock(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
	w := beginWorld(t, simalibaba.Options{Clock: still, Seed: simalibaba.SeedOptions{Nodes: 6}})
	w.serve(props.Service("web", withKeys(pairs...)).Service)
	text, err := json.Marshal(w.Control().State())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestKeysAlone: a key without what it needs changes the desired stack, or is reported.
func TestKeysAlone(t *testing.T) {
	s := startCloud(t, simalibaba.Options{Seed: simalibaba.SeedOptions{Nodes: 6}})
	process := props.Process(t, s.Open(t), s.Nodes())
	values := map[string][]string{}
	for _, c := range keyCases(s.running.Cloud.Seed) {
		values[prefix+c.key] = []string{c.value}
	}
	common.Alone{
		Keys: model.Annotations(), Kinds: map[string]func(*corev1.Service){model.CLB: nil}, Values: values,
		Except: map[string]string{
			prefix + "hostname": "TestHostname", prefix + "preserve-lb-on-delete": "TestPreserved", prefix + "remove-unscheduled-backend": "TestCordoned", prefix + "ignore-weight-update": "TestIgnoreWeights", prefix + "ip-version": "TestRefused: the only legal value is the default",
			prefix + "type": "TestElsewhere", prefix + "tunnel-type": "TestElsewhere", domain + "class": "TestElsewhere", domain + "backend-type": "TestRefused: the only legal value is the default",
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
