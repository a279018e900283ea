package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/laws"
)

// TestSequences: operations in any order end in the state of a new Service.
func TestSequences(t *testing.T) {
	cloud := Cloud()
	laws.Sequences{
		Choose: func(svc *corev1.Service) string { return cloud.Choose(svc).Kind }, Capabilities: cloud.Capabilities,
		Keys: cloud.Annotations, Least: 20,
		Except: map[string]string{azurePrefix + "load-balancer-ipv4": "an internal load balancer keeps its address"},
		Kinds: map[string]func(*corev1.Service){
			Public: nil, Internal: func(svc *corev1.Service) { svc.Annotations[internalKey.Name] = "true" },
		},
		Fresh: func(t testing.TB) (*laws.Subject, func(testing.TB, *corev1.Service) laws.Case) {
			return lawsSubject(t, "azure", nil), func(t testing.TB, svc *corev1.Service) laws.Case {
				return lawsSubject(t, "azure", map[string]*corev1.Service{"case": svc}).Cases[0]
			}
		},
	}.Run(t)
}
