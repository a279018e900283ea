package e2e

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/cluster"
	"github.com/berth-lb/berth/test/sim"
)

const (
	classGCEExternal = "networking.gke.io/l4-regional-external"
	classGCEInternal = "networking.gke.io/l4-regional-internal"
)

var gcePlane cluster.Shared

// TestGCE runs what every cloud has to stand, and what only Google Cloud has, on
// Google Cloud.
func TestGCE(t *testing.T) {
	t.Parallel()
	p := onGCE()
	p.scenarios(t)
	t.Run("classes", p.gceClasses)
	t.Run("shared network", gceSharedNetwork)
}

func onGCE() *place {
	ranged := func(numbers ...int32) []string {
		return []string{fmt.Sprintf("TCP %d-%d", numbers[0], numbers[len(numbers)-1])}
	}
	listed := func(numbers ...int32) []string {
		text := ""
		for i, n := range numbers {
			text += map[bool]string{true: ",", false: "TCP "}[i > 0] + fmt.Sprint(n)
		}
		return []string{text}
	}
	check := func(...int32) string { return "10256/healthz" }
	everybody := []string{"0.0.0.0/0"}
	internal := setAnnotation("networking.gke.io/load-balancer-type", "Internal")
	return &place{
		cloud: "gce", plane: &gcePlane, fronts: gceFronts, key: gceKey, spoil: spoilGCE, frees: true, sim: []string{"--quota-factor=10"},
		kinds: []kind{
			{name: "target-pool", ports: ranged, check: check, open: everybody,
				parts: map[string]int{"/forwardingRules/": 1, "/targetPools/": 1, "/addresses/": 0}},
			{name: "netlb-rbs", asks: []change{setAnnotation("cloud.google.com/l4-rbs", "enabled")}, ports: ranged, check: check, open: everybody,
				parts: map[string]int{"/forwardingRules/": 1, "/backendServices/": 1}},
			{name: "ilb-ig", asks: []change{internal}, ports: listed, check: check, open: everybody,
				parts: map[string]int{"/forwardingRules/": 1, "/backendServices/": 1}},
			{name: "ilb-neg", asks: []change{setClass(classGCEInternal)}, ports: listed, check: check, open: everybody,
				parts: map[string]int{"/forwardingRules/": 1, "/backendServices/": 1}},
		},
		answers: answers{
			throttled: sim.Fault{Status: 403, Code: "rateLimitExceeded", Message: "Quota exceeded for quota metric 'Queries'"},
			denied: sim.Fault{Operation: "forwardingRules.insert", Status: 403, Code: "forbidden",
				Message: "Required 'compute.forwardingRules.create' permission for 'projects/berth-demo'"},
			quota: sim.Fault{Operation: "forwardingRules.insert", Status: 403, Code: "quotaExceeded", Message: "Quota 'FORWARDING_RULES' exceeded. Limit: 15.0"},
			down:  sim.Fault{Status: 503, Code: "backendError", Message: "The service is currently unavailable"},
		},
		cuts:     []string{"forwardingRules.insert", "targetPools.insert", "regionBackendServices.insert", "firewalls.insert", "healthChecks.insert"},
		slow:     []string{"--throttle", "--operation-delay=3s", "--operation-spread=2s"},
		mistakes: gceMistakes(),
	}
}

// mistakeOf returns a mistake in the value of an annotation.
func mistakeOf(name, kind, key, value string, legal ...string) mistake {
	return mistake{name: name, kind: kind, bad: []change{setAnnotation(key, value)}, fix: []change{setAnnotation(key, "")},
		words: append([]string{key, fmt.Sprintf("%q", value)}, legal...)}
}

func gceMistakes() []mistake {
	asked := func(ip string) change { return changeSpec(func(s *corev1.ServiceSpec) { s.LoadBalancerIP = ip }) }
	protocol := func(p corev1.Protocol) change {
		return changeSpec(func(s *corev1.ServiceSpec) { s.Ports = append(s.Ports, newPort(p, 53, 0)) })
	}
	one := changeSpec(func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] })
	return []mistake{
		mistakeOf("tier", "netlb-rbs", "cloud.google.com/network-tier", "Gold", "Premium", "Standard"),
		mistakeOf("subnet", "ilb-ig", "networking.gke.io/internal-load-balancer-subnet", "nowhere", "subnet"),
		{name: "asked", kind: "target-pool", field: true, bad: []change{asked("192.0.2.99")}, fix: []change{asked("")},
			words: []string{"spec.loadBalancerIP", `"192.0.2.99"`, "reserved"}},
		{name: "outside", kind: "ilb-neg", field: true, bad: []change{asked("192.0.2.98")}, fix: []change{asked("")},
			words: []string{"spec.loadBalancerIP", `"192.0.2.98"`, "subnet"}},
		{name: "mixed", kind: "target-pool", field: true, bad: []change{protocol(corev1.ProtocolUDP)}, fix: []change{one},
			words: []string{"spec.ports", "TCP", "UDP", "netlb-rbs"}},
		{name: "sctp", kind: "netlb-rbs", field: true, bad: []change{protocol(corev1.ProtocolSCTP)}, fix: []change{one}, words: []string{"spec.ports", "SCTP", "TCP"}},
	}
}

// gceSharedNetwork makes load balancers in a network of another project.
func gceSharedNetwork(t *testing.T) {
	p := onGCE()
	p.host = "berth-host"
	p.sim = append(p.sim, "--network-project="+p.host)
	w := p.start(t, 3)
	before := w.dump()
	w.controller()
	fleet := w.many(len(p.kinds))
	w.must(w.Create(t.Context(), fleet...))
	w.programmed(fleet...)
	w.settled(w.meter())
	w.oncePerService(before, fleet)
	for _, k := range p.kinds {
		w.addressed(k.name, k.name)
	}
	w.shows("open to whom it may concern", frontSources, func(_ int, k kind) any { return k.open })
	if now := w.dump(); countPaths(now, "projects/berth-demo/global/firewalls/") != 0 || countPaths(now, "projects/berth-host/global/firewalls/") <= countPaths(before, "projects/berth-host/global/firewalls/") {
		t.Error("the firewalls are not in the project of the network")
	}
	w.remove(fleet...)
	w.nothingLeft(before)
}

// gceClasses creates a Service of each class, and of one that no controller serves.
func (p *place) gceClasses(t *testing.T) {
	w := p.start(t, 2)
	before := w.dump()
	w.controller()
	classes := map[string]string{
		classGCEExternal: "netlb-rbs", classGCEExternal + "-legacy": "target-pool",
		classGCEInternal: "ilb-neg", classGCEInternal + "-legacy": "ilb-ig",
	}
	var services []corev1.Service
	for name, kind := range classes {
		// The class decides, not the annotation.
		services = append(services, w.service(kind, setClass(name), setAnnotation("networking.gke.io/load-balancer-type", "External")))
	}
	theirs := w.service("theirs", setClass("networking.gke.io/l7-something"))
	w.must(w.Create(t.Context(), append(services, theirs)...))
	w.programmed(services...)
	for _, kind := range classes {
		w.addressed(kind, kind)
	}
	w.untouched("theirs")
	w.remove(append(services, theirs)...)
	w.nothingLeft(before)
}
