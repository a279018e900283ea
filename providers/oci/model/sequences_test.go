package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/laws"
	"github.com/berth-lb/berth/test/props"
)

// TestSequences: operations in any order end in the state of a new Service.
func TestSequences(t *testing.T) {
	cloud := Cloud()
	laws.Sequences{
		Choose: func(svc *corev1.Service) string { return cloud.Choose(svc).Kind }, Capabilities: cloud.Capabilities,
		Keys: cloud.Annotations, Least: 20,
		Except: map[string]string{protocolKey.Name: "a live listener keeps its name, which begins with the first protocol"},
		Kinds:  map[string]func(*corev1.Service){LB: nil, NLB: func(svc *corev1.Service) { svc.Annotations[typeKey.Name] = NLB }},
		Fresh: func(t testing.TB) (*laws.Subject, func(testing.TB, *corev1.Service) laws.Case) {
			return lawsSubject(t, "oci", nil), func(t testing.TB, svc *corev1.Service) laws.Case {
				return lawsSubject(t, "oci", []props.Case{{Name: "case", Service: svc}}).Cases[0]
			}
		},
	}.Run(t)
}
