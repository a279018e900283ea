package openstack_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/golden"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
)

// telling is a Service with which something is wrong.
type telling struct {
	name   string
	with   map[string]string
	change func(*corev1.ServiceSpec)
	opt    simopenstack.Options
	config string
	before func(*world, *corev1.Service) // what happens first
}

// serveBroken serves the Service. Its next change ends in ERROR, and so does the
// failover.
func serveBroken(w *world, svc *corev1.Service) {
	w.Helper()
	serveValid(w, svc)
	w.breaks("UpdateListener", 1)
	w.breaks("FailoverLoadBalancer", 0)
	_, _ = w.once(svc, false)
}

// serveValid serves the Service without its invalid settings.
func serveValid(w *world, svc *corev1.Service) {
	w.Helper()
	first := props.Service("web", nil).Service
	w.serve(first)
	for _, k := range []string{idKey, prefix + "load-balancer-address"} {
		svc.Annotations[k] = first.Annotations[k]
	}
}

// nameOther makes the Service name the load balancer of another owner.
func nameOther(w *world, svc *corev1.Service) {
	w.Helper()
	svc.Annotations[idKey] = w.guests(1)[0].Annotations[idKey]
}

// failCalls makes calls of an operation fail.
func failCalls(f sim.Fault) func(*world, *corev1.Service) {
	return func(w *world, _ *corev1.Service) {
		w.Helper()
		f.Kind = sim.FaultError
		if _, err := w.Control().Faults.Add(f); err != nil {
			w.Fatal(err)
		}
	}
}

func messageCases() []telling {
	const nowhere = "11111111-2222-3333-4444-555555555555"
	classes := "[LoadBalancerClass \"public\"]\nfloating-subnet = public-a\n[LoadBalancerClass \"partners\"]\nfloating-subnet = public-b\n"
	ovn := "lb-provider = ovn\nlb-method = SOURCE_IP_PORT\n"
	internal := map[string]string{"service.beta.kubernetes.io/openstack-internal-load-balancer": "true"}
	port := func(n int32) func(*corev1.ServiceSpec) { return func(s *corev1.ServiceSpec) { s.Ports[0].Port = n } }
	ranges := func(list ...string) func(*corev1.ServiceSpec) {
		return func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = list }
	}
	return []telling{
		{name: "a number that is none", with: prefixedKeys("connection-limit", "many")},
		{name: "a number that is too great", with: prefixedKeys("timeout-client-data", "2073600001")},
		{name: "an algorithm that is none", with: prefixedKeys("lb-method", "round-robin")},
		{name: "two ways to tell the client's address", with: prefixedKeys("x-forwarded-for", "true", "proxy-protocol", "v2")},
		{name: "HTTP for a port of UDP", with: prefixedKeys("x-forwarded-for", "true"), change: mixProtocols},
		{name: "a health check of UDP that is too often", with: prefixedKeys("enable-health-monitor", "true", "health-monitor-delay", "1"), change: mixProtocols},
		{name: "a class that is none", with: prefixedKeys("class", "partner"), config: classes},
		{name: "a class where there are none", with: prefixedKeys("class", "partner")},
		{name: "a network that is not there", with: prefixedKeys("network-id", nowhere), config: "subnet-id =\n"},
		{name: "a subnet that is not there", with: prefixedKeys("subnet-id", nowhere)},
		{name: "an external network that is not there", with: prefixedKeys("floating-network-id", nowhere)},
		{name: "a floating subnet that is not there", with: prefixedKeys("floating-subnet-id", nowhere)},
		{name: "a pattern that no floating subnet matches", with: prefixedKeys("floating-subnet", "private-*")},
		{name: "a pattern that is none", with: prefixedKeys("floating-subnet", "~(")},
		{name: "a certificate that is not there", with: prefixedKeys("default-tls-container-ref", "https://barbican.example/v1/containers/"+nowhere)},
		{name: "a certificate where no key manager is", with: prefixedKeys("default-tls-container-ref", "https://barbican.example/v1/containers/"+nowhere), opt: simopenstack.Options{NoKeyManager: true}},
		{name: "a flavor that is not there", with: prefixedKeys("flavor-id", nowhere)},
		{name: "a range that is none", change: ranges("10.0.0.0/33")},
		{name: "an older API", with: prefixedKeys("flavor-id", nowhere, "availability-zone", "az-1"), change: ranges("10.0.0.0/8"), opt: simopenstack.Options{Version: 5}},
		{name: "ovn and HTTP", with: prefixedKeys("x-forwarded-for", "true", "lb-method", "ROUND_ROBIN"), config: ovn},
		{name: "ovn and the PROXY protocol", with: prefixedKeys("proxy-protocol", "v1"), config: ovn},
		{name: "ovn and ranges", change: ranges("10.0.0.0/8"), config: ovn},
		{name: "two families", change: props.Dual, opt: simopenstack.Options{Seed: simopenstack.SeedOptions{DualStack: true}}},
		{name: "a load balancer that is not there", with: prefixedKeys("load-balancer-id", nowhere)},
		{name: "a port that another Service has", with: prefixedKeys(), change: port(8000), before: nameOther},
		{name: "an internal Service on a load balancer of others", with: internal, before: nameOther},
		{name: "no room on a load balancer of others", with: prefixedKeys(), config: "max-shared-lb = 1\n", before: nameOther},
		{name: "what cannot change", with: prefixedKeys("subnet-id", nowhere, "flavor-id", nowhere), before: serveValid},
		{name: "a subnet of the members that is not there", with: prefixedKeys("member-subnet-id", nowhere)},
		{name: "a subnet of the members that is not there, later", with: prefixedKeys("member-subnet-id", nowhere), before: serveValid},
		{name: "tags that no floating subnet has", with: prefixedKeys("floating-subnet-tags", "nobody-has-it")},
		{name: "a pattern that no floating subnet with the tags matches", with: prefixedKeys("floating-subnet", "private-*", "floating-subnet-tags", "partners")},
		{name: "no load balancer left", before: failCalls(sim.Fault{Operation: "CreateLoadBalancer", Status: http.StatusForbidden, Code: "QuotaException", Message: "Quota has been met for resources: LoadBalancer"})},
		{name: "no floating IP left", opt: simopenstack.Options{Limits: simopenstack.Limits{FloatingIPs: 2}}},
		{name: "a load balancer that ends in ERROR when it is made", before: failCalls(sim.Fault{Operation: "CreateLoadBalancer", Status: http.StatusOK})},
		{name: "a load balancer in ERROR whose failover fails", opt: simopenstack.Options{Administrator: true}, with: prefixedKeys("connection-limit", "7"), before: serveBroken},
		{name: "a load balancer in ERROR that only an administrator may fail over", with: prefixedKeys("connection-limit", "7"), before: serveBroken},
		{name: "a load balancer in ERROR that may still forward", before: func(w *world, svc *corev1.Service) {
			serveBroken(w, svc)
			_, _ = w.once(svc, false) // the cloud refuses the failover
		}, with: prefixedKeys("connection-limit", "7")},
		{name: "a load balancer in ERROR that is replaced", before: func(w *world, svc *corev1.Service) {
			serveBroken(w, svc)
			w.running.Cloud.StopForwarding(svc.Annotations[idKey])
			_, _ = w.once(svc, false) // the cloud refuses the failover
		}, with: prefixedKeys("connection-limit", "7")},
		{name: "a load balancer in ERROR that others use as well", with: prefixedKeys("connection-limit", "7"), before: func(w *world, svc *corev1.Service) {
			serveValid(w, svc)
			w.serve(withAnnotations(namedService("guest", 9000), map[string]string{idKey: svc.Annotations[idKey]}))
			w.breaks("UpdateListener", 1)
			_, _ = w.once(svc, false)
			w.running.Cloud.StopForwarding(svc.Annotations[idKey])
			_, _ = w.once(svc, false) // the cloud refuses the failover
		}},
		{name: "ports without node ports", change: func(s *corev1.ServiceSpec) {
			for i := range s.Ports {
				s.Ports[i].NodePort = 0
			}
		}},
		{name: "no right to make load balancers", before: failCalls(sim.Fault{Operation: "CreateLoadBalancer", Status: http.StatusForbidden, Message: "Policy does not allow this request to be performed."})},
		{name: "a given floating IP that another port has", change: func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "203.0.113.200" }, before: func(w *world, _ *corev1.Service) {
			other := namedService("other", 9000)
			other.Spec.LoadBalancerIP = "203.0.113.200"
			w.serve(other)
		}},
		{name: "a floating IP that may not be chosen", change: func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "203.0.113.99" }},
	}
}

// TestTold: what a Service says with which something is wrong.
func TestTold(t *testing.T) {
	all := messageCases()
	texts := make([]string, len(all))
	t.Run("all", func(t *testing.T) {
		for i, c := range all {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				w := startWorld(t, c.opt, c.config)
				svc := withAnnotations(props.Service("web", nil, c.change).Service, c.with)
				if c.before != nil {
					c.before(w, svc)
				}
				res, err := w.once(svc, false)
				lines := messagesOf(res)
				if err != nil {
					lines = append(lines, err.Error())
				}
				for i, line := range lines {
					lines[i] = "  " + ids.ReplaceAllString(line, "ID") + "\n"
				}
				texts[i] = fmt.Sprintf("== %s\n%s  status: %s\n", c.name, strings.Join(lines, ""), valueText(nil, svc.Status.LoadBalancer.Ingress))
			})
		}
	})
	golden.Check(t, "testdata/told.golden", strings.Join(texts, ""))
}

// ids are identifiers that the simulator gives, in the place of which a word is enough.
var ids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
