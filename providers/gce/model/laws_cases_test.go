package model

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/laws"
	"github.com/berth-lb/berth/test/props"
)

// olderLaws returns Services with target pools, and with internal load balancers on instance
// groups.
func olderLaws(t *testing.T) *laws.Subject {
	s := lawsSubject(t, "older", map[string]*corev1.Service{
		"pool":        lawsService("", nil),
		"pool ports":  lawsService("", nil, otherPorts),
		"pool one":    lawsService("", nil, onePort),
		"pool udp":    lawsService("", nil, props.UDP),
		"pool ranges": lawsService("", nil, someClients),
		"pool here":   lawsService("", nil, onePort, useIP(reservedExternal), someClients),
		"pool there":  lawsService("", nil, otherPorts, useIP(reservedExternal)),
		"pool last":   lawsService("", nil, lastPort, useIP(reservedExternal)),
		"pool local":  lawsService("", nil, props.Local),
		"ig":          lawsService("", internalType()),
		"ig ports":    lawsService("", internalType(), otherPorts),
		"ig udp":      lawsService("", internalType(), props.UDP),
		"ig ranges":   lawsService("", internalType(), someClients),
		"ig here":     lawsService("", internalType(), onePort, useIP(reservedInternal), someClients),
		"ig there":    lawsService("", internalType(), otherPorts, useIP(reservedInternal)),
		"ig last":     lawsService("", internalType(), lastPort, useIP(reservedInternal)),
	})
	s.Neighbours = slices.Concat([][2]string{{"pool", "pool"}, {"ig", "ig"}, {"pool local", "pool"}, {"pool", "pool there"}, {"ig", "ig there"}},
		besideEachOther("pool here", "pool there", "pool last"), besideEachOther("ig here", "ig there", "ig last"))
	s.Known = append(knownOfAll(),
		laws.Known{Law: laws.Backends, Refused: refusedSteps(plan.Create, KindHTTPCheck), Reason: "a pool gets no nodes while the check that it is to have is refused"},
	)
	return s
}

// newerLaws returns Services of the newer kinds.
func newerLaws(t *testing.T) *laws.Subject {
	s := lawsSubject(t, "newer", map[string]*corev1.Service{
		"netlb":        lawsService(classExternal, nil),
		"netlb ports":  lawsService(classExternal, nil, otherPorts),
		"netlb udp":    lawsService(classExternal, nil, props.UDP),
		"netlb mixed":  lawsService(classExternal, nil, mixedPorts),
		"netlb dual":   lawsService(classExternal, nil, props.Dual),
		"netlb here":   lawsService(classExternal, nil, onePort, useIP(reservedExternal), someClients),
		"netlb there":  lawsService(classExternal, nil, otherPorts, useIP(reservedExternal)),
		"netlb last":   lawsService(classExternal, nil, lastPort, useIP(reservedExternal)),
		"neg":          lawsService(classInternal, nil),
		"neg ports":    lawsService(classInternal, nil, otherPorts),
		"neg udp":      lawsService(classInternal, nil, props.UDP),
		"neg mixed":    lawsService(classInternal, nil, mixedPorts),
		"neg here":     lawsService(classInternal, nil, onePort, useIP(reservedInternal), someClients),
		"neg there":    lawsService(classInternal, nil, otherPorts, useIP(reservedInternal)),
		"neg last":     lawsService(classInternal, nil, lastPort, useIP(reservedInternal)),
		"neg dual":     lawsService(classInternal, map[string]string{subnetKeyV2.Name: "sub6"}, props.Dual),
		"netlb ranges": lawsService(classExternal, nil, someClients),
	})
	s.Neighbours = slices.Concat([][2]string{{"netlb", "netlb"}, {"neg", "neg"}, {"netlb", "netlb there"}, {"neg", "neg there"}},
		besideEachOther("netlb here", "netlb there", "netlb last"), besideEachOther("neg here", "neg there", "neg last"))
	const oneName = "load balancers of both schemes have a backend service of one name, and are restored after a definite refusal, by the process that has deleted them"
	s.Known = knownOfAll()
	for _, kind := range []stack.Kind{KindBackend, KindInternalRule, KindExternalRule} {
		s.Known = append(s.Known,
			laws.Known{Law: laws.NothingLost, Refused: refusedSteps(plan.Delete, kind), Only: laws.WithoutAnswer, Reason: oneName},
			laws.Known{Law: laws.NothingLost, Refused: refusedSteps(plan.Delete, kind), Only: laws.AfterRestart, Reason: oneName})
	}
	s.Known = append(s.Known,
		laws.Known{Law: laws.NothingLost, Refused: refusedSteps(plan.Create, KindBackend), Only: laws.WithoutAnswer, Reason: oneName},
		laws.Known{Law: laws.NothingLost, Refused: refusedSteps(plan.Create, KindBackend), Only: laws.AfterRestart, Reason: oneName})
	return s
}

// knownOfAll lists the violations of all kinds of load balancers.
func knownOfAll() []laws.Known {
	const notUndone = "a new rule whose firewall is refused is undone after a definite refusal, by the process that has created it"
	out := []laws.Known{
		{Law: laws.NothingLost, Refused: refusedSteps(plan.Update, KindFirewall), Only: laws.WithoutAnswer, Reason: notUndone},
		{Law: laws.NothingLost, Refused: refusedSteps(plan.Update, KindFirewall), Only: laws.AfterRestart, Reason: notUndone},
		{Law: laws.NothingLost, Refused: refusedSteps(plan.Update, KindBackend), Reason: "a backend service changes its protocol while no rule refers to it"},
	}
	for _, rule := range []stack.Kind{KindExternalRule, KindInternalRule} {
		out = append(out,
			laws.Known{Law: laws.NothingLost, Refused: refusedSteps(plan.Create, rule), Only: laws.AfterRestart, Reason: "a rule is restored by the process that has deleted it"},
			laws.Known{Law: laws.NothingLost, Refused: refusedSteps(plan.Create, rule), Only: laws.WithoutAnswer, Reason: "a create without an answer is not undone, since it may have been performed"})
	}
	return out
}

func refusedSteps(a plan.Action, kind stack.Kind) []laws.Match {
	return []laws.Match{{Action: a, Kind: kind}}
}

func internalType() map[string]string { return map[string]string{typeKey.Name: "Internal"} }

func lawsService(class string, annotations map[string]string, changes ...func(*corev1.ServiceSpec)) *corev1.Service {
	svc := props.Service("web", annotations, changes...).Service
	svc.Spec.LoadBalancerClass = nil
	if class != "" {
		svc.Spec.LoadBalancerClass = &class
	}
	return svc
}

func otherPorts(s *corev1.ServiceSpec) { s.Ports[0].Port, s.Ports[1].Port = 8080, 8443 }
func onePort(s *corev1.ServiceSpec)    { s.Ports = s.Ports[:1] }
func lastPort(s *corev1.ServiceSpec)   { s.Ports = s.Ports[1:]; s.Ports[0].Port = 9000 }
func mixedPorts(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }

func someClients(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"10.0.0.0/8"} }

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

func useIP(ip string) func(*corev1.ServiceSpec) {
	return func(s *corev1.ServiceSpec) { s.LoadBalancerIP = ip }
}
