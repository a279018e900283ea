package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/cases"
)

// TestRealServices: what the owners of Services of public repositories are told.
func TestRealServices(t *testing.T) {
	w := loadWorld(t)
	config := parseConfig(t, w.Config)
	cases.RealServices(t, bundle(), 9, func(svc *corev1.Service) (cases.Built, error) {
		in, problems := inputOf(config, w.ClusterName, svc, w.Nodes)
		want, more, err := build(in, &w.Facts, nil)
		return cases.Built{Kind: in.Kind, Want: want, Problems: append(problems, more...)}, err
	})
}
