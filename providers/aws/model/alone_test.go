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
		Kinds:  plainKinds(),
	})
}

// TestKeysLive: a value that an existing load balancer does not get is reported.
func TestKeysLive(t *testing.T) {
	suite().Kept(t, cases.Kept{
		Alone:  cases.Alone{Kinds: plainKinds()},
		Chosen: []string{"target-group.Name"},
		Holds: map[string]string{
			nodeLabelsKey.Name: "labels that no node has block the plan",
			targetTypeKey.Name: "the listener moves to the new target group in a second plan",
			certKey.Name:       "a listener follows in a second plan, once the certificate is accepted",
		},
	})
}

// plainKinds makes a plain Service one of each kind.
func plainKinds() map[string]func(*corev1.Service) {
	return map[string]func(*corev1.Service){
		CLB: nil,
		NLB: func(svc *corev1.Service) { svc.Annotations[typeKey.Name] = typeNLB },
		LBC: func(svc *corev1.Service) { svc.Spec.LoadBalancerClass = new(classLBC) },
	}
}
