package quay

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/sim/seed"
)

// Machine returns a node whose machine is one of Quay's.
func Machine(n int) corev1.Node {
	name := "node-" + strconv.Itoa(n)
	return seed.Machine{Name: name, Spec: corev1.NodeSpec{ProviderID: "quay://" + name}, Region: "quay", Zone: "quay-a", Size: "small"}.Node()
}
