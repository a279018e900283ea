package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
)

// TestExplained: the explanation of every case is complete and right.
func TestExplained(t *testing.T) {
	for _, c := range buildableCases(t) {
		a, _ := c.arm(t)
		facts, have := a.read(), a.have(c.tenant(c.service).in.Owner)
		rebuild := func(svc *corev1.Service) (*stack.Stack, annotations.Problems, error) {
			tn := c.tenant(svc)
			if tn.problems.Errors() {
				return nil, tn.problems, nil
			}
			return buildStack(tn.in, facts, have)
		}
		want, _, err := rebuild(c.service)
		if err != nil {
			t.Fatal(err)
		}
		cases.Explained{Name: c.Name, Service: c.service, Want: want, Build: rebuild}.Run(t)
	}
}
