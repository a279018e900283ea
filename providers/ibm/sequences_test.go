package ibm_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/ibm"
	"github.com/berth-lb/berth/providers/ibm/model"
	"github.com/berth-lb/berth/test/laws"
	"github.com/berth-lb/berth/test/props"
)

// TestSequences: operations in any order end in the state of a new Service.
func TestSequences(t *testing.T) {
	cloud := ibm.Cloud()
	laws.Sequences{
		Choose: func(svc *corev1.Service) string { return cloud.Choose(svc).Kind }, Capabilities: cloud.Capabilities,
		Keys: cloud.Annotations, Kinds: map[string]func(*corev1.Service){model.ALB: nil}, Least: 10,
		Fresh: func(t testing.TB) (*laws.Subject, func(testing.TB, *corev1.Service) laws.Case) {
			return lawsSubject(t, nil), func(t testing.TB, svc *corev1.Service) laws.Case {
				return lawsSubject(t, []props.Case{{Name: "case", Service: svc}}).Cases[0]
			}
		},
	}.Run(t)
}
