package e2e

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
)

const testCertificate = "arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-0000-4000-8000-000000000001"

// step is one change to a Service and what its load balancer has afterwards.
type step struct {
	name    string
	changes []change
	field   func(balancer) any
	want    any
}

func (w *world) play(name string, steps []step) {
	w.t.Helper()
	for _, s := range steps {
		w.atRest(name)
		w.update(name, s.changes...)
		w.eventually(s.name, func() error {
			b, err := w.balancer(name)
			if err != nil {
				return err
			}
			return diffError("load balancer", s.want, s.field(b))
		})
	}
}

func TestClassicLife(t *testing.T) { startWorld(t, 3).classicLife() }

// Ports of health checks that Services request, one each: the API server may take a while to
// release one. They are of the static band, see nodePort.
const (
	classicHealth = staticPorts + 126
	networkHealth = staticPorts + 127
)

func (w *world) classicLife() {
	w.t.Helper()
	before := w.state()
	w.controller()
	svc := w.create("web", setPorts(80, 1140))
	w.addressIsThatOf("web", classicKind)
	w.becomes("web", membersOf, inOrder(w.machines()...))
	check := fmt.Sprintf("HTTP:%d/healthz", classicHealth)
	w.play("web", []step{
		{"a second port", []change{setPorts(80, 1140, 443, 1143)}, listenersOf, []string{"TCP:443>TCP:1143", "TCP:80>TCP:1140"}},
		{"another number", []change{setPorts(80, 1140, 8443, 1143)}, listenersOf, []string{"TCP:80>TCP:1140", "TCP:8443>TCP:1143"}},
		{"another node port", []change{setPorts(80, 1140, 8443, 1144)}, listenersOf, []string{"TCP:80>TCP:1140", "TCP:8443>TCP:1144"}},
		{"idle timeout", []change{setAnnotation("connection-idle-timeout", "120")}, settingOf("idle"), "120"},
		{"cross-zone on", []change{setAnnotation("cross-zone-load-balancing-enabled", "true")}, settingOf("cross"), "true"},
		{"cross-zone off", []change{setAnnotation("cross-zone-load-balancing-enabled", "")}, settingOf("cross"), "false"},
		{"proxy protocol on", []change{setAnnotation("proxy-protocol", "*")}, settingOf("proxy"), "1140,1144"},
		{"proxy protocol off", []change{setAnnotation("proxy-protocol", "")}, settingOf("proxy"), ""},
		{"TLS on one port", []change{setAnnotation("ssl-cert", testCertificate), setAnnotation("ssl-ports", "8443")}, listenersOf,
			[]string{"SSL:8443>TCP:1144 0a1b2c3d-0000-4000-8000-000000000001", "TCP:80>TCP:1140"}},
		{"no TLS", []change{setAnnotation("ssl-cert", ""), setAnnotation("ssl-ports", "")}, listenersOf, []string{"TCP:80>TCP:1140", "TCP:8443>TCP:1144"}},
		{"policy Local", []change{policyLocal, func(svc *corev1.Service) { svc.Spec.HealthCheckNodePort = classicHealth }}, checksOf, []string{check}},
		{"policy Cluster", []change{policyCluster}, checksOf, []string{"TCP:1140"}},
		{"source ranges", []change{func(svc *corev1.Service) { svc.Spec.LoadBalancerSourceRanges = []string{"10.1.0.0/16"} }}, rangesOf,
			[]string{"80 10.1.0.0/16", "8443 10.1.0.0/16"}},
		{"open to all", []change{func(svc *corev1.Service) { svc.Spec.LoadBalancerSourceRanges = nil }}, rangesOf,
			[]string{"80 0.0.0.0/0", "8443 0.0.0.0/0"}},
		{"one port", []change{setPorts(80, 1140)}, listenersOf, []string{"TCP:80>TCP:1140"}},
	})
	if n := w.committed("CreateLoadBalancer"); n != 1 {
		w.t.Errorf("created %d load balancers, want 1 for the whole life", n)
	}
	w.remove(svc)
	w.asBefore(before)
}

func TestNetworkLife(t *testing.T) { startWorld(t, 3).networkLife() }

func (w *world) networkLife() {
	w.t.Helper()
	before, made := w.state(), w.committed("CreateLoadBalancer")
	w.controller()
	svc := w.create("web", useNetworkType, setPorts(80, 1140))
	w.addressIsThatOf("web", networkKind)
	w.becomes("web", membersOf, onPort(80, w.machines()...))
	udp := func(svc *corev1.Service) {
		svc.Spec.Ports = []corev1.ServicePort{newPort(corev1.ProtocolUDP, 8443, 1144)}
	}
	w.play("web", []step{
		{"a second port", []change{setPorts(80, 1140, 443, 1143)}, listenersOf, []string{"TCP:443>TCP:1143", "TCP:80>TCP:1140"}},
		{"another number", []change{setPorts(80, 1140, 8443, 1143)}, listenersOf, []string{"TCP:80>TCP:1140", "TCP:8443>TCP:1143"}},
		{"another node port", []change{setPorts(80, 1140, 8443, 1144)}, listenersOf, []string{"TCP:80>TCP:1140", "TCP:8443>TCP:1144"}},
		{"cross-zone on", []change{setAnnotation("cross-zone-load-balancing-enabled", "true")}, settingOf("cross"), "true"},
		{"cross-zone off", []change{setAnnotation("cross-zone-load-balancing-enabled", "")}, settingOf("cross"), "false"},
		{"proxy protocol on", []change{setAnnotation("target-group-attributes", "proxy_protocol_v2.enabled=true")}, settingOf("proxy 80"), "true"},
		{"proxy protocol off", []change{setAnnotation("target-group-attributes", "proxy_protocol_v2.enabled=false")}, settingOf("proxy 80"), "false"},
		{"TLS on one port", []change{setAnnotation("ssl-cert", testCertificate), setAnnotation("ssl-ports", "8443"), setAnnotation("target-group-attributes", "")}, listenersOf,
			[]string{"TCP:80>TCP:1140", "TLS:8443>TCP:1144 0a1b2c3d-0000-4000-8000-000000000001"}},
		{"no TLS", []change{setAnnotation("ssl-cert", ""), setAnnotation("ssl-ports", "")}, listenersOf, []string{"TCP:80>TCP:1140", "TCP:8443>TCP:1144"}},
		{"policy Local", []change{policyLocal, func(svc *corev1.Service) { svc.Spec.HealthCheckNodePort = networkHealth }}, checksOf,
			[]string{fmt.Sprintf("80 HTTP:%d/healthz", networkHealth), fmt.Sprintf("8443 HTTP:%d/healthz", networkHealth)}},
		{"policy Cluster", []change{policyCluster}, checksOf, []string{"80 TCP:traffic-port", "8443 TCP:traffic-port"}},
		{"UDP", []change{udp}, listenersOf, []string{"UDP:8443>UDP:1144"}},
		{"TCP again", []change{setPorts(80, 1140, 8443, 1144)}, listenersOf, []string{"TCP:80>TCP:1140", "TCP:8443>TCP:1144"}},
	})
	w.update("web", func(svc *corev1.Service) { svc.Spec.LoadBalancerSourceRanges = []string{"10.1.0.0/16"} })
	w.eventually("source ranges", func() error {
		got, err := w.nodeRules("")
		if err != nil {
			return err
		}
		return errors.Join(requireWords(fmt.Sprint(got), "1140 10.1.0.0/16", "1144 10.1.0.0/16"),
			forbidWords(fmt.Sprint(got), "1140 0.0.0.0/0", "1144 0.0.0.0/0"))
	})
	if n := w.committed("CreateLoadBalancer") - made; n != 1 {
		w.t.Errorf("created %d load balancers, want 1 for the whole life", n)
	}
	w.programmed(svc)
	w.remove(svc)
	w.asBefore(before)
}

// TestKindSwitch changes the kind of a live load balancer, and back before the old one is
// deleted: no Service loses an address that is still in use.
func TestKindSwitch(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	w.controller()
	svc := w.create("web", setPorts(80, 1140))
	classic := w.addressIsThatOf("web", classicKind)

	w.update("web", useNetworkType)
	w.condition("web", status.TypeReplacing, metav1.ConditionTrue, status.ReasonReplacing)
	w.addressIsThatOf("web", networkKind)
	w.bothServe("web")

	w.update("web", setAnnotation("type", ""))
	w.eventually("the address of the first load balancer again", func() error {
		return diffError("address", classic, hostOf(w.get("web")))
	})
	w.bothServe("web")
	if n := w.committed("CreateLoadBalancer"); n != 2 {
		t.Errorf("created %d load balancers, want 2", n)
	}
	w.remove(svc)
	w.asBefore(before)
}

// bothServe wants both load balancers of a Service with all nodes.
func (w *world) bothServe(name string) {
	w.t.Helper()
	list, err := w.named(name)
	w.must(err)
	if len(list) != 2 {
		w.t.Fatalf("%s: want both load balancers, got %+v", name, list)
	}
	for _, b := range list {
		if len(b.Members) != len(w.machines()) {
			w.t.Errorf("%s load balancer: want %d members, got %v", b.Kind, len(w.machines()), b.Members)
		}
	}
}

// addressIsThatOf waits until the status names the Service's load balancer of a
// kind, and returns the address.
func (w *world) addressIsThatOf(name, kind string) string {
	w.t.Helper()
	var host string
	w.eventually(name+": address", func() error {
		list, err := w.named(name)
		if err != nil {
			return err
		}
		for _, b := range list {
			if b.Kind == kind {
				host = b.Host
			}
		}
		want := []corev1.LoadBalancerIngress{{Hostname: lowerCase(host)}}
		return diffError("status", want, w.get(name).Status.LoadBalancer.Ingress)
	})
	return lowerCase(host)
}

// TestTypeChange takes the load balancer away without deleting the Service.
func TestTypeChange(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	w.controller()
	w.create("web")
	w.update("web", func(svc *corev1.Service) { svc.Spec.Type = corev1.ServiceTypeClusterIP })
	w.released("web")
	w.asBefore(before)
	w.update("web", func(svc *corev1.Service) { svc.Spec.Type = corev1.ServiceTypeLoadBalancer })
	w.programmed(w.service("web"))
}

// released waits until nothing on a Service says that it ever had a load balancer.
func (w *world) released(name string) {
	w.t.Helper()
	w.eventually(name+" is released", func() error {
		svc, err := w.Get(w.t.Context(), w.ns, name)
		if err != nil {
			return err
		}
		return errors.Join(
			diffError("finalizers", []string(nil), svc.Finalizers),
			diffError("status", corev1.ServiceStatus{}, svc.Status),
			diffError("record", "", svc.Annotations[status.AnnotationApplied]),
		)
	})
}
