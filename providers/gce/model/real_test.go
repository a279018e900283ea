package model

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
)

// TestRealServices: what the owners of Services of public repositories see, and what
// they get.
func TestRealServices(t *testing.T) { suite().Real(t, 5, true) }

// endpointsOn are n pods, two on every node.
func endpointsOn(n int) []nodeports.PortEndpoints {
	var list []nodeports.Endpoint
	for i := range n {
		list = append(list, nodeports.Endpoint{Addr: parseAddr(fmt.Sprintf("10.9.%d.%d", i/200, i%200+1)), Node: fmt.Sprintf("node-%d", i/2)})
	}
	return []nodeports.PortEndpoints{{Family: corev1.IPv4Protocol, List: list}}
}
