package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/laws"
)

// TestSequences: operations in any order end in the state of a new Service.
func TestSequences(t *testing.T) {
	services := lawsServices(t)
	cloud := Cloud()
	laws.Sequences{
		Choose: func(svc *corev1.Service) string { return cloud.Choose(svc).Kind }, Capabilities: cloud.Capabilities,
		Keys: cloud.Annotations, Kinds: plainKinds(), Least: 60,
		NodePorts: map[string]string{LBC: "a target group keeps the port that it was created with, and each target has its own"},
		Except: map[string]string{
			proxyKey.Name:      "the policy of the PROXY protocol stays on a Classic Load Balancer, where no port uses it",
			nodeLabelsKey.Name: "labels that no node has block the plan",
		},
		Fresh: func(t testing.TB) (*laws.Subject, func(testing.TB, *corev1.Service) laws.Case) {
			return lawsSubject(t), func(t testing.TB, svc *corev1.Service) laws.Case { return services.Case(t, "case", svc) }
		},
	}.Run(t)
}
