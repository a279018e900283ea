package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
)

// mistake is something that users get wrong, and what they must be told.
type mistake struct {
	name    string
	network bool // on a Network Load Balancer
	bad     []change
	words   []string // key, value, and what is legal
	fix     []change
}

func spec(set func(*corev1.ServiceSpec)) change {
	return func(svc *corev1.Service) { set(&svc.Spec) }
}

// manyPorts are more than any load balancer has listeners.
func manyPorts(n int32) change {
	var pairs []int32
	for i := range n {
		pairs = append(pairs, 1000+i, 0)
	}
	return ports(pairs...)
}

// mistakes are refused as a whole: nothing of the Service is built.
func mistakes() []mistake {
	set := func(name, key, value string, words ...string) mistake {
		return mistake{name: name, bad: []change{annotate(key, value)}, fix: []change{annotate(key, "")},
			words: append([]string{"service.beta.kubernetes.io/aws-load-balancer-" + key, fmt.Sprintf("%q", value)}, words...)}
	}
	onNetwork := func(m mistake) mistake { m.network = true; return m }
	out := []mistake{
		set("enum", "healthcheck-protocol", "udp", `"TCP", "SSL", "HTTP" or "HTTPS"`),
		set("range", "connection-idle-timeout", "9999", "1 to 4000"),
		set("number", "healthcheck-interval", "soon", "seconds"),
		set("bool", "cross-zone-load-balancing-enabled", "yes", "true or false"),
		set("id", "security-groups", "web", "sg-..."),
		set("no-subnet", "subnets", "subnet-00000000000000000", "subnets of the VPC"),
		set("arn", "ssl-cert", "my-certificate", "one ARN of ACM or IAM"),
		onNetwork(set("pairs", "target-group-attributes", "nonsense", "each =true or =false")),
		onNetwork(set("net-enum", "healthcheck-protocol", "udp", `"TCP", "HTTP" or "HTTPS"`)),
		onNetwork(set("net-bool", "access-log-enabled", "maybe", "true or false")),
		onNetwork(set("net-forbidden", "extra-security-groups", "sg-0123", "must not be set")),
	}
	const rangesKey = "service.beta.kubernetes.io/load-balancer-source-ranges"
	one := ports(80, 0)
	return append(out,
		// A range that is none the API server itself refuses.
		mistake{name: "ipv6", bad: []change{annotate(rangesKey, "2001:db8::/32")}, fix: []change{annotate(rangesKey, "")},
			words: []string{rangesKey, `"2001:db8::/32"`, "IPv4 CIDRs"}},
		mistake{name: "listeners", bad: []change{manyPorts(101)}, fix: []change{one}, words: []string{"spec.ports", "101", "100 listeners"}},
		mistake{name: "net-listeners", network: true, bad: []change{manyPorts(51)}, fix: []change{one}, words: []string{"spec.ports", "51", "50 listeners"}},
		mistake{name: "protocol", bad: []change{spec(func(s *corev1.ServiceSpec) { s.Ports = []corev1.ServicePort{port(corev1.ProtocolUDP, 53, 0)} })},
			fix: []change{one}, words: []string{"spec.ports", "53/UDP", "TCP"}},
		mistake{name: "affinity", bad: []change{spec(func(s *corev1.ServiceSpec) { s.SessionAffinity = corev1.ServiceAffinityClientIP })},
			fix: []change{spec(func(s *corev1.ServiceSpec) {
				s.SessionAffinity, s.SessionAffinityConfig = corev1.ServiceAffinityNone, nil
			})},
			words: []string{"spec.sessionAffinity", `"ClientIP"`, `"None"`}},
		mistake{name: "several", bad: []change{annotate("connection-idle-timeout", "0"), annotate("proxy-protocol", "v2")},
			fix:   []change{annotate("connection-idle-timeout", ""), annotate("proxy-protocol", "")},
			words: []string{"connection-idle-timeout", `"0"`, "proxy-protocol", `"v2"`}},
	)
}

// good is the Service without the mistake.
func (w *world) good(m mistake) corev1.Service {
	if m.network {
		return w.service(m.name, network)
	}
	return w.service(m.name)
}

// told waits until a Service has the condition of a mistake, and wants exactly
// one event, both with all that the user needs to mend it.
func (w *world) told(m mistake) {
	w.t.Helper()
	var accepted metav1.Condition
	w.eventually(m.name+" is not accepted", func() error {
		svc := w.get(m.name)
		if accepted = harness.Condition(svc, status.TypeAccepted); accepted.Status != metav1.ConditionFalse {
			return fmt.Errorf("got %s", harness.Conditions(svc))
		}
		return nil
	})
	if err := mentions(accepted.Message, m.words...); err != nil {
		w.t.Errorf("%s: condition: %v", m.name, err)
	}
	if accepted.Reason == string(status.ReasonAccepted) {
		w.t.Errorf("%s: reason %s", m.name, accepted.Reason)
	}
	w.toldOnce(m.name, m.words...)
}

// toldOnce wants exactly one Warning, with the words. Events are written a
// moment after the status.
func (w *world) toldOnce(name string, words ...string) {
	w.t.Helper()
	w.eventually(name+" has a warning", func() error {
		if len(w.warnings(name)) == 0 {
			return fmt.Errorf("none yet of %q", w.events(name))
		}
		return nil
	})
	warned := w.warnings(name)
	if len(warned) != 1 {
		w.t.Errorf("%s: want one warning, got %d:\n%s", name, len(warned), strings.Join(warned, "\n"))
	}
	if err := mentions(strings.Join(warned, "\n"), words...); err != nil {
		w.t.Errorf("%s: event: %v", name, err)
	}
}

// TestMistakesOnLiveServices makes each mistake on a Service that has a load
// balancer: it keeps serving, follows the nodes, and goes on when it is mended.
func TestMistakesOnLiveServices(t *testing.T) {
	w := start(t, 3, "--quota-factor=3")
	nodes, machines := w.seed(2), w.machines()
	before := w.state()
	w.controller()
	all := mistakes()
	var services []corev1.Service
	for _, m := range all {
		services = append(services, w.good(m))
	}
	w.must(w.Create(t.Context(), services...))
	w.programmed(services...)
	first := w.byService(services)
	w.settled(w.meter())

	meter := w.meter()
	for _, m := range all {
		w.update(m.name, m.bad...)
	}
	for _, m := range all {
		w.told(m)
	}
	w.noWrites("mistakes", meter)
	if diff := cmp.Diff(first, w.byService(services)); diff != "" {
		t.Errorf("a mistake changed a load balancer (-before +after):\n%s", diff)
	}
	for _, m := range all {
		if svc := w.get(m.name); len(svc.Status.LoadBalancer.Ingress) == 0 {
			t.Errorf("%s: the address is gone: %s", m.name, harness.Conditions(svc))
		}
	}

	w.must(w.JoinNode(t.Context(), &nodes[2]))
	w.follow(all, machines)
	w.settled(meter)
	for _, m := range all {
		w.told(m) // still, and not again
	}

	for _, m := range all {
		w.update(m.name, m.fix...)
	}
	w.programmed(services...)
	for _, m := range all {
		w.condition(m.name, status.TypeAccepted, metav1.ConditionTrue, status.ReasonAccepted)
	}
	w.settled(meter)
	for name, b := range w.byService(services) {
		if diff := cmp.Diff(first[name].Settings, b.Settings); diff != "" {
			t.Errorf("%s is not as it was before the mistake (-want +got):\n%s", name, diff)
		}
		if len(b.Listeners) != 1 {
			t.Errorf("%s: want one listener, got %v", name, b.Listeners)
		}
	}
	w.remove(services...)
	w.asBefore(before)
}

// follow touches every Service in a way that means nothing, and waits until its
// load balancer has all machines.
func (w *world) follow(all []mistake, machines []string) {
	w.t.Helper()
	for _, m := range all {
		w.update(m.name, annotate("example.com/touched", "1"))
		want := inOrder(slices.Clone(machines)...)
		if m.network {
			want = onPort(80, machines...)
		}
		w.becomes(m.name, members, want)
	}
}

// TestMistakesOnNewServices makes each mistake from the beginning: nothing is
// made until it is mended.
func TestMistakesOnNewServices(t *testing.T) {
	w := start(t, 2, "--quota-factor=3")
	before := w.state()
	w.controller()
	all := mistakes()
	var services []corev1.Service
	for _, m := range all {
		svc := w.good(m)
		for _, c := range m.bad {
			c(&svc)
		}
		services = append(services, svc)
	}
	meter := w.meter()
	w.must(w.Create(t.Context(), services...))
	for _, m := range all {
		w.told(m)
	}
	w.noWrites("new Services with mistakes", meter)
	w.asBefore(before)
	for _, m := range all {
		if svc := w.get(m.name); len(svc.Status.LoadBalancer.Ingress) > 0 {
			t.Errorf("%s has an address: %v", m.name, svc.Status.LoadBalancer.Ingress)
		}
	}
	half := len(all) / 2
	w.remove(services[:half]...)
	for _, m := range all[half:] {
		w.update(m.name, m.fix...)
	}
	w.programmed(services[half:]...)
	w.remove(services[half:]...)
	w.asBefore(before)
}

// byService are the load balancers of Services.
func (w *world) byService(services []corev1.Service) map[string]balancer {
	w.t.Helper()
	all, err := w.balancers()
	w.must(err)
	byName := map[string]balancer{}
	for _, b := range all {
		byName[b.Name] = b
	}
	out := map[string]balancer{}
	for _, svc := range services {
		b, ok := byName[nameOf(w.get(svc.Name))]
		if !ok {
			w.t.Fatalf("%s has no load balancer", svc.Name)
		}
		out[svc.Name] = b
	}
	return out
}

// TestWarningsThatRefuseNothing are about what has no effect: the rest is done.
func TestWarningsThatRefuseNothing(t *testing.T) {
	w := start(t, 2)
	w.controller()
	const prefix = "service.beta.kubernetes.io/aws-load-balancer-"
	for _, c := range []struct {
		name  string
		bad   []change
		words []string
	}{
		{"misspelt", []change{annotate("cross-zone-load-balancing-enable", "true")},
			[]string{"UnknownAnnotation", prefix + "cross-zone-load-balancing-enable", prefix + "cross-zone-load-balancing-enabled"}},
		{"port-name", []change{annotate("ssl-cert", testCertificate), annotate("ssl-ports", "https,tcp-80")},
			[]string{prefix + "ssl-ports", "https", "port numbers and names of the Service"}},
		{"later", []change{annotate("alpn-policy", "HTTP2Only")}, []string{prefix + "alpn-policy"}},
		{"other-kind", []change{annotate("eip-allocations", "eipalloc-1")}, []string{prefix + "eip-allocations"}},
		{"odd-type", []change{annotate("type", "NLB")}, []string{prefix + "type", `"NLB"`, "nlb"}},
	} {
		w.create(c.name, c.bad...)
		w.condition(c.name, status.TypeAccepted, metav1.ConditionTrue, status.ReasonAccepted)
		w.toldOnce(c.name, c.words...)
		if b, err := w.balancer(c.name); err != nil || b.Kind != classicKind {
			t.Errorf("%s: want a Classic Load Balancer, got %+v, %v", c.name, b, err)
		}
	}
}

// TestRefusedByTheCloud asks for something that only the cloud can judge.
func TestRefusedByTheCloud(t *testing.T) {
	w := start(t, 2)
	before := w.state()
	w.controller()
	svc := w.create("web")
	first, err := w.balancer("web")
	w.must(err)
	w.update("web", annotate("security-groups", "sg-0123456789abcdef0"))
	c := w.condition("web", status.TypeProgrammed, metav1.ConditionFalse, status.ReasonCloudError)
	if err := mentions(c.Message, "sg-0123456789abcdef0"); err != nil {
		t.Error(err)
	}
	w.settled(w.meter())
	w.toldOnce("web", "SyncLoadBalancerFailed", "sg-0123456789abcdef0")
	now, err := w.balancer("web")
	w.must(err)
	if diff := cmp.Diff(first, now); diff != "" {
		t.Errorf("a refused change changed the load balancer (-want +got):\n%s", diff)
	}
	if len(w.get("web").Status.LoadBalancer.Ingress) == 0 {
		t.Error("the address is gone")
	}
	w.update("web", annotate("security-groups", ""))
	w.programmed(svc)
	w.remove(svc)
	w.asBefore(before)
}

// TestServedElsewhere leaves Services of the AWS Load Balancer Controller alone.
func TestServedElsewhere(t *testing.T) {
	w := start(t, 2)
	before := w.state()
	w.controller()
	for _, kind := range []string{"external", "nlb-ip"} {
		svc := w.service(kind, annotate("type", kind))
		w.must(w.Create(t.Context(), svc))
		w.eventually("an event", func() error {
			return mentions(strings.Join(w.events(kind), "\n"), "ServedElsewhere")
		})
		w.update(kind, annotate("example.com/touched", "1"))
	}
	w.settled(w.meter())
	for _, kind := range []string{"external", "nlb-ip"} {
		w.untouched(kind)
		if got := w.events(kind); len(got) != 1 {
			t.Errorf("%s: want one event, got %q", kind, got)
		}
		w.remove(w.service(kind))
	}
	w.asBefore(before)
}

// untouched wants nothing of ours on a Service.
func (w *world) untouched(name string) {
	w.t.Helper()
	svc := w.get(name)
	if len(svc.Finalizers) > 0 || len(svc.Status.Conditions) > 0 || len(svc.Status.LoadBalancer.Ingress) > 0 || svc.Annotations[status.AnnotationApplied] != "" {
		w.t.Errorf("%s was touched: finalizers %v, status %+v, annotations %v", name, svc.Finalizers, svc.Status, svc.Annotations)
	}
}
