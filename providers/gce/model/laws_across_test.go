package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/laws"
)

// TestLawsAcross holds the plans of Services that change between an older and a newer kind against the laws. A load balancer
// keeps the kind of its scheme, so each of these moves changes the scheme as well.
func TestLawsAcross(t *testing.T) {
	pools := lawsSubject(t, "pools and endpoint groups", map[string]*corev1.Service{
		"pool": lawsService("", nil), "neg ranges": lawsService(classInternal, nil, otherPorts, someClients),
	})
	groups := lawsSubject(t, "instance groups of both schemes", map[string]*corev1.Service{
		"ig": lawsService("", internalType()), "netlb ranges": lawsService(classExternal, nil, otherPorts, someClients),
	})
	const oneName = "both rules have one name: the old one is restored after a definite refusal, by the process that has deleted it"
	for _, rule := range []stack.Kind{KindExternalRule, KindInternalRule} {
		for _, only := range []laws.Circumstance{laws.AfterRestart, laws.WithoutAnswer} {
			groups.Known = append(groups.Known, laws.Known{Law: laws.NothingLost, Refused: refusedSteps(plan.Create, rule), Only: only, Reason: oneName})
		}
	}
	for _, s := range []*laws.Subject{pools, groups} {
		t.Run(s.Name, func(t *testing.T) { laws.Check(t, s, laws.Bounds{}) })
	}
}
