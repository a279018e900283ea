package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/cases"
)

// TestKeysAlone: a key without what it needs changes something, or is reported.
func TestKeysAlone(t *testing.T) {
	suite().Alone(t, cases.Alone{
		Except: map[string]string{"cloud.google.com/neg": "another controller reads it"},
		Kinds:  plainKinds(),
	})
}

// TestKeysLive: a value that an existing load balancer does not get is reported.
func TestKeysLive(t *testing.T) {
	suite().Kept(t, cases.Kept{
		Alone:  cases.Alone{Kinds: plainKinds()},
		Chosen: []string{"internal-forwarding-rule.Address"}, // compared by the wish for it
	})
}

// plainKinds makes a plain Service one of each kind.
func plainKinds() map[string]func(*corev1.Service) {
	class := func(name string) func(*corev1.Service) {
		return func(svc *corev1.Service) { svc.Spec.LoadBalancerClass = &name }
	}
	return map[string]func(*corev1.Service){
		TargetPool: nil, NetLB: class(classExternal), InternalIG: class(classInternalLegacy), InternalNEG: class(classInternal),
	}
}
