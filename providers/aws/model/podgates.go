package model

import (
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// gatePrefix begins the conditions of pods that report whether they are healthy targets.
// The name of the target group follows, which is that of the TargetGroupBinding of the
// AWS Load Balancer Controller, so that pods that were created under it continue to
// work.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/targetgroupbinding/utils.go.
const gatePrefix = "target-health.elbv2.k8s.aws/"

// podGates lists the conditions of pods in the target groups that have pods as targets.
func podGates(have *stack.Stack) []providers.PodGate {
	var out []providers.PodGate
	for r, spec := range stack.Each[TargetGroup](have, KindTargetGroup) {
		if spec.TargetType == targetIP && r.ID != "" && r.Proof != stack.None {
			out = append(out, providers.PodGate{Type: gatePrefix + spec.Name, Of: r.Key, Service: otherNamed(r.Key.Name)})
		}
	}
	return out
}
