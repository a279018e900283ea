package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/laws"
	"github.com/berth-lb/berth/test/props"
)

// Reasons of violations that exist today.
const (
	sharedFirst = "on an address that another Service has, the entry is created after the rule that it is for: until then, the port may become that Service's"
	leftPool    = "the pool that a Service leaves does not follow the nodes while the switch is refused"
	denyLast    = "Azure chooses the private address in the call that creates the frontend, and the entries that deny follow"
	allowFirst  = "the entries of the security group are deleted before the frontend, which is the evidence that they are the Service's"
)

// knownOfAll lists the violations of all kinds of Services.
func knownOfAll() []laws.Known {
	entries, access := refusedSteps("", KindEntries), refusedSteps(plan.Create, KindAccess)
	return []laws.Known{
		{Law: laws.Backends, Refused: access, Reason: leftPool},
		{Law: laws.Backends, Refused: entries, Reason: leftPool},
		{Law: laws.Backends, Refused: refusedSteps(plan.Create, KindPublicIP), Reason: leftPool},
	}
}

func refusedSteps(a plan.Action, kind stack.Kind) []laws.Match {
	return []laws.Match{{Action: a, Kind: kind}}
}

// interfaceLaws returns Services whose pools have network interfaces.
func interfaceLaws(t *testing.T) *laws.Subject {
	c := testConfig()
	c.PoolType = poolNIC
	s := lawsSubjectOf(t, "interfaces", c, map[string]*corev1.Service{
		"public":        lawsService(nil),
		"public ranges": lawsService(nil, someClients, otherPorts),
		"internal":      lawsService(map[string]string{"load-balancer-internal": "true"}),
		"second":        lawsService(map[string]string{"pip-name": "second"}, onePort, someClients),
	})
	s.Neighbours = [][2]string{{"public", "public"}, {"internal", "internal"}, {"internal", "public"}}
	s.Known = append(knownOfAll(),
		laws.Known{Law: laws.Backends, Refused: refusedSteps("", KindPool), Reason: leftPool},
		laws.Known{Law: laws.Backends, Refused: refusedSteps("", KindNICs), Reason: leftPool},
		laws.Known{Law: laws.WholeDeletion, Refused: refusedSteps(plan.Delete, KindEntries), Reason: "machines leave the pool before the load balancer is deleted, as Azure demands"},
	)
	return s
}

func lawsService(values map[string]string, changes ...func(*corev1.ServiceSpec)) *corev1.Service {
	svc := props.Service("web", props.Prefixed(azurePrefix, values), changes...).Service
	svc.Spec.LoadBalancerClass = nil
	return svc
}

// besideEachOther returns the pairs of cases that share an address.
func besideEachOther(names ...string) [][2]string {
	var out [][2]string
	for _, a := range names {
		for _, b := range names {
			if a != b {
				out = append(out, [2]string{a, b})
			}
		}
	}
	return out
}

func lastPort(s *corev1.ServiceSpec)       { s.Ports = s.Ports[1:]; s.Ports[0].Port = 9000 }
func otherPorts(s *corev1.ServiceSpec)     { s.Ports[0].Port, s.Ports[1].Port = 8080, 8443 }
func onePort(s *corev1.ServiceSpec)        { s.Ports = s.Ports[:1] }
func someClients(s *corev1.ServiceSpec)    { s.LoadBalancerSourceRanges = []string{"10.2.0.0/16"} }
func outsideClients(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"192.0.2.0/24"} }

// publicLaws returns public Services.
func publicLaws(t *testing.T) *laws.Subject {
	s := lawsSubject(t, "public", map[string]*corev1.Service{
		"public":        lawsService(nil),
		"ports":         lawsService(nil, otherPorts),
		"one":           lawsService(nil, onePort),
		"udp":           lawsService(nil, props.UDP),
		"ranges":        lawsService(nil, someClients),
		"deny":          lawsService(map[string]string{"deny-all-except-load-balancer-source-ranges": "true"}, someClients),
		"tags":          lawsService(map[string]string{"allowed-service-tags": "AzureCloud"}),
		"local":         lawsService(nil, props.Local),
		"dual":          lawsService(nil, props.Dual),
		"floating off":  lawsService(map[string]string{"disable-load-balancer-floating-ip": "true"}),
		"gateway":       lawsService(map[string]string{"pip-name": "gateway"}, onePort, someClients),
		"gateway ports": lawsService(map[string]string{"load-balancer-ipv4": gatewayIP}, otherPorts),
		"gateway last":  lawsService(map[string]string{"pip-name": "gateway"}, lastPort),
		"second":        lawsService(map[string]string{"pip-name": "second"}, onePort, someClients),
	})
	s.Neighbours = append([][2]string{{"public", "public"}, {"floating off", "floating off"}, {"local", "dual"}, {"public", "gateway ports"}, {"second", "gateway ports"}},
		besideEachOther("gateway", "gateway ports", "gateway last")...)
	s.Known = knownOfAll()
	for _, other := range []string{"gateway", "gateway ports", "gateway last"} {
		s.Known = append(s.Known, laws.Known{Law: laws.NothingLost, Refused: refusedSteps(plan.Create, KindAccess), Beside: other, Reason: sharedFirst})
	}
	return s
}

// internalLaws returns internal Services, and public ones that they are changed into.
func internalLaws(t *testing.T) *laws.Subject {
	inside := func(more ...string) map[string]string {
		out := map[string]string{"load-balancer-internal": "true"}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	s := lawsSubject(t, "internal", map[string]*corev1.Service{
		"internal":        lawsService(inside()),
		"internal ports":  lawsService(inside(), otherPorts),
		"internal ranges": lawsService(inside(), someClients),
		"internal deny":   lawsService(inside("deny-all-except-load-balancer-source-ranges", "true"), someClients),
		"here":            lawsService(inside("load-balancer-ipv4", "10.240.9.1"), onePort, outsideClients),
		"there":           lawsService(inside("load-balancer-ipv4", "10.240.9.2"), onePort, outsideClients),
		"there ports":     lawsService(inside("load-balancer-ipv4", "10.240.9.2"), otherPorts, outsideClients),
		"there last":      lawsService(inside("load-balancer-ipv4", "10.240.9.2"), lastPort, outsideClients),
		"public":          lawsService(nil),
		"public ranges":   lawsService(nil, someClients),
		"gateway":         lawsService(map[string]string{"pip-name": "gateway"}, onePort, outsideClients),
	})
	s.Neighbours = append([][2]string{{"internal", "internal"}, {"here", "there ports"}, {"internal ranges", "public ranges"}},
		besideEachOther("there", "there ports", "there last")...)
	s.Known = append(knownOfAll(),
		laws.Known{Law: laws.NothingLost, From: "here", To: "there", Refused: refusedSteps(plan.Create, KindAccess), Beside: "there ports", Reason: sharedFirst},
		laws.Known{Law: laws.Backends, Refused: refusedSteps("", KindPool), Reason: leftPool},
		laws.Known{Law: laws.WholeDeletion, Refused: refusedSteps(plan.Delete, KindEntries), Reason: allowFirst},
	)
	for _, from := range []string{"(none)", "gateway", "public", "public ranges"} {
		s.Known = append(s.Known, laws.Known{Law: laws.NothingOpened, From: from, To: "internal deny", Reason: denyLast})
	}
	return s
}
