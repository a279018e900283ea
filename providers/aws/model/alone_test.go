package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/cases"
)

// TestKeysAlone: a key without what it needs changes something, or is reported.
func TestKeysAlone(t *testing.T) {
	suite().Alone(t, cases.Alone{
		Values: map[string][]string{checkPortKey.Name: {"9000"}, typeKey.Name: {"clb"}},
		Kinds: map[string]func(*corev1.Service){
			CLB: nil,
			NLB: func(svc *corev1.Service) { svc.Annotations[typeKey.Name] = typeNLB },
			LBC: func(svc *corev1.Service) { svc.Spec.LoadBalancerClass = new(classLBC) },
		},
	})
}
