package oci_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/account"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
)

// TestEveryKeyIsDeclared: testdata/keys.txt has every key that the official controller
// reads, or Oracle documents.
func TestEveryKeyIsDeclared(t *testing.T) {
	keys := common.KeysOf(model.Annotations())
	for _, r := range annotations.Rows(model.Annotations()) {
		keys = append(keys, r.Aliases...)
	}
	slices.Sort(keys)
	common.Declared(t, slices.Compact(keys))
	common.Described(t, model.Annotations())
}

// keyCase is a key at work: with it the cloud, or the status, is not what it is without.
type keyCase struct {
	key    string
	value  func(simoci.Seed) string
	with   map[string]string
	change func(*corev1.ServiceSpec)
}

func keyCases() []keyCase {
	is := func(text string) func(simoci.Seed) string { return func(simoci.Seed) string { return text } }
	lb := func(key string, value string, pairs ...string) keyCase {
		return keyCase{key: key, value: is(value), with: annotationPairs(pairs...)}
	}
	nlb := func(key string, value string, pairs ...string) keyCase {
		return lb(netPrefix+key, value, append(pairs, prefix+"load-balancer-type", "nlb")...)
	}
	seeded := func(c keyCase, value func(simoci.Seed) string) keyCase {
		c.value = value
		return c
	}
	six := nlb("assigned-ipv6", "")
	six.change = func(s *corev1.ServiceSpec) { s.IPFamilies = []corev1.IPFamily{corev1.IPv6Protocol} }
	pair := lb(prefix+"reserved-ips", "")
	pair.change = func(s *corev1.ServiceSpec) {
		s.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	}
	held := func(s simoci.Seed) string { return s.PrivateAddress }
	private := func(key string, pairs ...string) keyCase {
		return lb(prefix+"reserved-private-ips", "", append(pairs, key, "true")...)
	}
	preserve := nlb("is-preserve-source", "false")
	preserve.change = props.Local
	group := func(s simoci.Seed) string { return s.Groups[0] }
	return []keyCase{
		lb(prefix+"load-balancer-type", "nlb"), lb(oldPrefix+"shape", "400Mbps"), lb(oldPrefix+"backend-protocol", "HTTP"),
		lb(oldPrefix+"shape-flex-min", "20", oldPrefix+"shape", "flexible", oldPrefix+"shape-flex-max", "100"),
		lb(oldPrefix+"shape-flex-max", "200", oldPrefix+"shape", "flexible", oldPrefix+"shape-flex-min", "10"),
		lb(oldPrefix+"connection-idle-timeout", "90"), lb(oldPrefix+"connection-proxy-protocol-version", "1"),
		lb(oldPrefix+"security-list-management-mode", "None"), lb(oldPrefix+"health-check-retries", "4"), lb(oldPrefix+"health-check-interval", "20000"),
		lb(oldPrefix+"health-check-timeout", "2000"), lb(prefix+"loadbalancer-policy", "IP_HASH"), lb(prefix+"ingress-ip-mode", "proxy"),
		lb(prefix+"initial-freeform-tags-override", `{"team": "web"}`), nlb("initial-freeform-tags-override", `{"team": "web"}`),
		seeded(lb(prefix+"initial-defined-tags-override", ""), definedTags), seeded(nlb("initial-defined-tags-override", ""), definedTags),
		lb(prefix+"node-label-selector", "kubernetes.io/hostname in (berth-demo-node-2)"), nlb("node-label-selector", "kubernetes.io/hostname!=berth-demo-node-2"),
		lb(prefix+"security-rule-management-mode", "NSG"), lb("service.beta.kubernetes.io/load-balancer-source-ranges", "10.0.0.0/8"),
		lb(prefix+"oci-load-balancer-rule-sets", `{"h": {"items": [{"action": "ADD_HTTP_REQUEST_HEADER", "header": "x-a", "value": "b"}]}}`, oldPrefix+"backend-protocol", "HTTP"),
		lb(oldPrefix+"internal", "true"), nlb("internal", "true"),
		seeded(lb(oldPrefix+"subnet1", ""), func(s simoci.Seed) string { return s.Zonal[0].ID }),
		seeded(lb(oldPrefix+"subnet2", "", oldPrefix+"subnet1", "zonal"), func(s simoci.Seed) string { return s.Zonal[1].ID }),
		seeded(nlb("subnet", ""), func(s simoci.Seed) string { return s.Zonal[0].ID }),
		seeded(lb(prefix+"compartment-id", ""), func(s simoci.Seed) string { return s.Other }),
		seeded(lb(prefix+"reserved-ips", ""), func(s simoci.Seed) string { return s.Addresses[1] }), seeded(pair, func(s simoci.Seed) string { return s.Addresses[1] + ", " + strings.ToUpper(s.Address6) }),
		seeded(private(oldPrefix+"internal", oldPrefix+"subnet1", "private"), held),
		seeded(private(netPrefix+"internal", netPrefix+"subnet", "private", prefix+"load-balancer-type", "nlb"), func(s simoci.Seed) string { return s.PrivateAddressID }),
		seeded(lb(prefix+"oci-network-security-groups", ""), group), seeded(nlb("oci-network-security-groups", ""), group),
		seeded(lb(prefix+"oci-backend-network-security-group", "", prefix+"security-rule-management-mode", "NSG"), func(s simoci.Seed) string { return s.WorkerGroup }),
		nlb("security-list-management-mode", "Frontend"), nlb("health-check-retries", "4"), nlb("health-check-interval", "20000"), nlb("health-check-timeout", "2000"),
		nlb("backend-policy", "TWO_TUPLE"), nlb("is-ppv2-enabled", "true"), nlb("external-ip-only", "true"), preserve,
		lb(oldPrefix+"ssl-ports", "80", oldPrefix+"tls-secret", "web-tls"), lb(oldPrefix+"tls-secret", "web-tls", oldPrefix+"ssl-ports", "80"),
		lb(mapPrefix+"tls-certificate-map", "web-certificates", oldPrefix+"ssl-ports", "80"),
		lb(oldPrefix+"tls-backendset-secret", "nodes-tls", oldPrefix+"ssl-ports", "80"),
		lb(prefix+"oci-load-balancer-listener-ssl-config", `{"CipherSuiteName": "oci-modern-ssl-cipher-suite-v1"}`, oldPrefix+"ssl-ports", "80", oldPrefix+"tls-secret", "web-tls"),
		lb(prefix+"oci-load-balancer-backendset-ssl-config", `{"CipherSuiteName": "oci-modern-ssl-cipher-suite-v1"}`, oldPrefix+"ssl-ports", "80", oldPrefix+"tls-backendset-secret", "nodes-tls"),
		lb(mapPrefix+"session-persistence-config", `{"cookieName": "SESSION", "disableFallback": true}`, oldPrefix+"backend-protocol", "HTTP"),
		lb(mapPrefix+"lb-cookie-session-persistence-config", `{"maxAgeInSeconds": 3600}`, oldPrefix+"backend-protocol", "HTTP"),
		lb(mapPrefix+"backendset-backend-max-connections", "1024"), nlb("is-instant-failover-enabled", "true"),
		nlb("assigned-private-ipv4", "10.0.17.9"), seeded(six, func(s simoci.Seed) string { return strings.TrimSuffix(s.Public.IPv6CIDR, "/64") + "77" }),
	}
}

func definedTags(s simoci.Seed) string { return `{"` + s.TagNamespace + `": {"CostCenter": "42"}}` }

// TestEveryKeyWorks: every key that is declared as working has a case, and in each case
// it makes a difference.
func TestEveryKeyWorks(t *testing.T) {
	missing := map[string]bool{}
	for _, r := range annotations.Rows(model.Annotations()) {
		if r.On == annotations.ServiceAnnotation && r.Support == annotations.Works {
			missing[r.Key] = true
		}
	}
	if c := keyCases()[0]; c.outcome(t, false) != c.outcome(t, false) {
		t.Fatal("two clouds differ without a key")
	}
	delete(missing, accountKey) // covered by TestServiceAccount: it changes the calling identity, not the resources
	for _, c := range keyCases() {
		delete(missing, c.key)
		t.Run(c.key, func(t *testing.T) {
			t.Parallel()
			if c.outcome(t, false) == c.outcome(t, true) {
				t.Error("makes no difference")
			}
		})
	}
	if len(missing) > 0 {
		t.Errorf("keys without a case: %v", missing)
	}
}

// outcome is the cloud, and the status, once a Service is served with the key or without.
func (c keyCase) outcome(t *testing.T, key bool) string {
	t.Helper()
	// The clock stands still, so that nothing differs but by the key.
	still := clocktesting.NewFakePassiveClock(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
	s := subject{running: simtest.Start(t, simoci.Options{Clock: still, Seed: simoci.SeedOptions{Nodes: 3, DualStack: true}})}
	simtest.ForgetWork(s.running.Cloud)
	svc := c.service(s.running.Cloud.Seed, key)
	r := props.Process(t, s.Open(t), s.Nodes(), reconcile.Job{Service: svc})
	for range 12 {
		res, err := props.Work(t.Context(), r, reconcile.Job{Service: svc, Objects: keyObjects()})
		if err != nil {
			t.Fatal(err)
		}
		if res.Clean {
			text, err := json.Marshal([]any{s.Control().State(), res.Status.Ingress})
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if res.Draft.Problems.Errors() || res.Err != nil {
			t.Fatalf("not served: %v, %v", res.Draft.Problems, res.Err)
		}
	}
	t.Fatal("not served after many rounds")
	return ""
}

// keyObjects are the Secrets and the map that keys name.
func keyObjects() map[providers.Reference]providers.Object {
	known := secretObjects(map[string]map[string][]byte{"web-tls": certificates()[0], "nodes-tls": certificates()[1]})
	maps.Copy(known, certificateMap(map[string]string{"80": `["ocid1.certificate.oc1..web"]`}))
	return known
}

// service returns the Service with the key or without.
func (c keyCase) service(seed simoci.Seed, key bool) *corev1.Service {
	names := map[string]string{"zonal": seed.Zonal[0].ID, "private": seed.Private.ID}
	notes := map[string]string{}
	for k, v := range c.with {
		if named, ok := names[v]; ok {
			v = named
		}
		notes[k] = v
	}
	if !key && c.key == oldPrefix+"subnet2" {
		notes = map[string]string{} // one subnet of a domain alone is refused
	}
	if !key && strings.Contains(c.key, "flex-m") {
		notes[c.key] = "50"
	}
	if key {
		notes[c.key] = c.value(seed)
	}
	if c.key == oldPrefix+"subnet1" {
		notes[oldPrefix+"subnet2"] = seed.Zonal[1].ID
	}
	delete(notes, "")
	return props.Service("web", notes, func(spec *corev1.ServiceSpec) {
		if c.change != nil {
			c.change(spec)
		}
	}).Service
}

// TestExplained: the explanation of each key's Service is complete and right, and names the key.
func TestExplained(t *testing.T) {
	s := subject{running: simtest.Start(t, simoci.Options{Seed: simoci.SeedOptions{Nodes: 3, DualStack: true}})}
	process := props.Process(t, s.Open(t), s.Nodes())
	var origins account.Origins
	var keys []string
	for _, c := range keyCases() {
		origins.Explain(t, process, reconcile.Job{Service: c.service(s.running.Cloud.Seed, true), Objects: keyObjects()})
		keys = append(keys, c.key)
	}
	origins.Names(t, keys, map[string]string{
		prefix + "ingress-ip-mode": "the status has it", netPrefix + "external-ip-only": "the status has it",
		oldPrefix + "security-list-management-mode": "there are no rules, and no field of another resource differs",
	})
}
