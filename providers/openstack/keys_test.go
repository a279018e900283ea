package openstack_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/account"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/golden"
	"github.com/berth-lb/berth/test/props"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
)

// TestEveryKeyIsDeclared: testdata/keys.txt has every key that the official controller
// reads or writes.
func TestEveryKeyIsDeclared(t *testing.T) {
	common.Declared(t, common.KeysOf(model.Annotations()))
	common.Described(t, model.Annotations())
}

// keyCase is a key at work: with it the cloud, or what the Service says, is not what it
// is without.
type keyCase struct {
	key    string
	value  func(simopenstack.Seed) string
	config string // added to the section LoadBalancer
	with   map[string]string
	change func(*corev1.ServiceSpec)
	gone   bool // the outcome is what remains after the deletion of the Service
}

// fixedValue returns a value that does not depend on the seed.
func fixedValue(text string) func(simopenstack.Seed) string {
	return func(simopenstack.Seed) string { return text }
}

func keyCases() []keyCase {
	const old = "service.beta.kubernetes.io/"
	short := func(name string, value func(simopenstack.Seed) string) keyCase {
		return keyCase{key: prefix + name, value: value}
	}
	checked := prefixedKeys("enable-health-monitor", "true")
	check := func(name, value string) keyCase {
		return keyCase{key: prefix + name, value: fixedValue(value), with: checked}
	}
	certificate := func(s simopenstack.Seed) string { return "http://barbican.example" + s.Certificate }
	return []keyCase{
		{key: old + "openstack-internal-load-balancer", value: fixedValue("true")},
		{key: old + "load-balancer-source-ranges", value: fixedValue("10.0.0.0/8, 192.0.2.0/24")},
		{key: prefix + "class", value: fixedValue("partners"), config: "[LoadBalancerClass \"partners\"]\nfloating-subnet = public-b\n"},
		{key: prefix + "keep-floatingip", value: fixedValue("true"), gone: true},
		short("floating-network-id", func(s simopenstack.Seed) string { return s.Second.ID }),
		short("floating-subnet-id", func(s simopenstack.Seed) string { return s.Public.Subnets[1].ID }),
		short("floating-subnet", fixedValue("public-b")), short("floating-subnet-tags", fixedValue("partners")),
		short("port-id", func(s simopenstack.Seed) string { return s.FreePort }),
		short("subnet-id", func(s simopenstack.Seed) string { return s.Other.Subnets[0].ID }),
		{key: prefix + "network-id", value: func(s simopenstack.Seed) string { return s.Other.ID }, config: "subnet-id =\n"},
		short("member-subnet-id", func(s simopenstack.Seed) string { return s.Other.Subnets[0].ID }),
		short("connection-limit", fixedValue("1000")), short("proxy-protocol", fixedValue("v2")), short("x-forwarded-for", fixedValue("true")),
		short("lb-method", fixedValue("LEAST_CONNECTIONS")), short("timeout-client-data", fixedValue("1000")), short("timeout-member-connect", fixedValue("1000")),
		short("timeout-member-data", fixedValue("1000")), short("timeout-tcp-inspect", fixedValue("1000")),
		short("flavor-id", func(s simopenstack.Seed) string { return s.Flavor }), short("availability-zone", func(s simopenstack.Seed) string { return s.Zone }),
		short("enable-health-monitor", fixedValue("true")), check("health-monitor-delay", "11"), check("health-monitor-timeout", "4"),
		check("health-monitor-max-retries", "4"), check("health-monitor-max-retries-down", "5"),
		short("default-tls-container-ref", certificate), short("hostname", fixedValue("web.example.com")), short("node-selector", fixedValue("kubernetes.io/hostname=berth-demo-node-2")),
		short("load-balancer-id", nil), short("load-balancer-address", nil), {key: corev1.LabelNodeExcludeBalancers, value: fixedValue("true")},
	}
}

// TestEveryKeyWorks: every declared key has a case, and in each case it makes the
// difference that the golden file shows.
func TestEveryKeyWorks(t *testing.T) {
	missing := map[string]bool{}
	for _, r := range annotations.Rows(model.Annotations()) {
		missing[r.Key] = true
	}
	cases := keyCases()
	differences := make([]string, len(cases))
	t.Run("keys", func(t *testing.T) {
		for i, c := range cases {
			delete(missing, c.key)
			t.Run(c.key, func(t *testing.T) {
				t.Parallel()
				differences[i] = diffLines(c.outcome(t, false), c.outcome(t, true))
				if differences[i] == "" {
					t.Error("makes no difference")
				}
			})
		}
	})
	if len(missing) > 0 {
		t.Errorf("keys without a case: %v", missing)
	}
	var out strings.Builder
	for i, c := range cases {
		fmt.Fprintf(&out, "%s\n%s\n", c.key, differences[i])
	}
	golden.Check(t, "testdata/keys.golden", out.String())
}

// TestExplained: the explanation of each key's Service is complete and right, and names the key.
func TestExplained(t *testing.T) {
	var origins account.Origins
	var keys []string
	for _, c := range keyCases() {
		if c.value == nil || c.key == corev1.LabelNodeExcludeBalancers {
			continue // written by the controller, or a label of nodes
		}
		w := startWorld(t, simopenstack.Options{}, c.config)
		svc := withAnnotations(withAnnotations(props.Service("web", nil, c.change).Service, c.with), map[string]string{c.key: c.value(w.running.Cloud.Seed)})
		origins.Explain(t, w.process, reconcile.Job{Service: svc})
		keys = append(keys, c.key)
	}
	origins.Names(t, keys, map[string]string{
		prefix + "hostname": "the status has it", "service.beta.kubernetes.io/openstack-internal-load-balancer": "there is no floating IP, and no field of another resource differs",
	})
}

// outcome is the cloud, and what the Service says, once it is served with the key or
// without.
func (c keyCase) outcome(t *testing.T, with bool) []string {
	t.Helper()
	w := startWorld(t, simopenstack.Options{}, c.config)
	svc := withAnnotations(props.Service("web", nil, c.change).Service, c.with)
	if c.key == prefix+"load-balancer-id" {
		c.value = w.first()
	}
	switch {
	case !with || c.value == nil:
	case c.key == corev1.LabelNodeExcludeBalancers:
		w.exclude(0)
	default:
		svc = withAnnotations(svc, map[string]string{c.key: c.value(w.running.Cloud.Seed)})
	}
	w.serve(svc)
	w.restart()
	if d, err := w.process.Draft(t.Context(), reconcile.Job{Service: svc}); err != nil || !d.Plan.Empty() {
		t.Errorf("something is left to do: %v, %d steps", err, len(d.Plan.Steps))
	}
	said := []string{fmt.Sprintf("the Service's status: %s", valueText(nil, svc.Status.LoadBalancer.Ingress))}
	if with && c.value == nil {
		said = append(said, fmt.Sprintf("the Service's annotation: %q", svc.Annotations[c.key]))
	}
	if c.gone {
		w.release(svc)
	}
	return append(said, w.portrait()...)
}

// first serves another Service, and returns the id of its load balancer.
func (w *world) first() func(simopenstack.Seed) string {
	w.Helper()
	svc := props.Service("first", nil).Service
	svc.Name, svc.UID = "first", "first"
	svc.Spec.Ports[0].Port, svc.Spec.Ports[1].Port = 8080, 8443
	w.serve(svc)
	return fixedValue(svc.Annotations[prefix+"load-balancer-id"])
}

// exclude labels a node so that no load balancer has it.
func (w *world) exclude(i int) {
	w.Helper()
	nodes := w.running.Cloud.Seed.KubernetesNodes()
	nodes[i].Labels[corev1.LabelNodeExcludeBalancers] = "true"
	w.nodes = props.Project(nodes)
	w.restart()
}
