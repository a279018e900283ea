package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/laws"
)

// TestSequences: operations in any order end in the state of a new Service.
func TestSequences(t *testing.T) {
	cloud, config := Cloud(), lawsConfig(t)
	laws.Sequences{
		Choose: func(svc *corev1.Service) string { return cloud.Choose(svc).Kind }, Capabilities: cloud.Capabilities,
		Keys: cloud.Annotations, Least: 10, OnePolicy: true, Kinds: plainKinds(),
		Fresh: func(t testing.TB) (*laws.Subject, func(testing.TB, *corev1.Service) laws.Case) {
			return lawsSubject(t, "gce", nil), func(t testing.TB, svc *corev1.Service) laws.Case {
				c := &lawsCase{t: t, cloud: &cloud, config: config, svc: svc, known: map[ofDay]input{}}
				return laws.Case{Name: "case", Build: c.build, Publish: c.publish}
			}
		},
	}.Run(t)
}
