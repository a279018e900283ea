package model

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/test/cases"
)

// TestRealServices: what the owners of Services of public repositories are told,
// and what they get.
func TestRealServices(t *testing.T) {
	w := loadWorld(t)
	config := parseConfig(t, w.Config)
	cases.RealServices(t, bundle(), 5, func(svc *corev1.Service) (cases.Built, error) {
		in, problems := inputOf(config, svc, w.Nodes, w.Pods)
		want, more, err := build(in, &w.Facts, nil)
		built := cases.Built{Kind: in.Kind, Want: want, Problems: append(problems, more...)}
		if want != nil {
			built.Text = text(want)
		}
		return built, err
	})
}

// endpointsOn are n pods, two on every node.
func endpointsOn(n int) []nodeports.PortEndpoints {
	var list []nodeports.Endpoint
	for i := range n {
		list = append(list, nodeports.Endpoint{Addr: addr(fmt.Sprintf("10.9.%d.%d", i/200, i%200+1)), Node: fmt.Sprintf("node-%d", i/2)})
	}
	return []nodeports.PortEndpoints{{Family: corev1.IPv4Protocol, List: list}}
}
