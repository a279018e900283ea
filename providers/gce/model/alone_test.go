package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/cases"
)

// TestKeysAlone: a key without what it needs changes something, or is reported.
func TestKeysAlone(t *testing.T) {
	class := func(name string) func(*corev1.Service) {
		return func(svc *corev1.Service) { svc.Spec.LoadBalancerClass = &name }
	}
	suite().Alone(t, cases.Alone{
		Except: map[string]string{"cloud.google.com/neg": "another controller reads it"},
		Kinds: map[string]func(*corev1.Service){
			TargetPool: nil, NetLB: class(classExternal), InternalIG: class(classInternalLegacy), InternalNEG: class(classInternal),
		},
	})
}
