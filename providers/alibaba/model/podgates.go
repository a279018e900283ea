package model

import (
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// gatePrefix begins the conditions of pods that report whether they are backends. The name of the Service follows.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/controller/helper/pod_utils.go.
const gatePrefix = "service.readiness.alibabacloud.com/"

// podGates returns the condition of the pods of a Service whose load balancer forwards to pods.
func podGates(have *stack.Stack) []providers.PodGate {
	if !podsIn(have) {
		return nil
	}
	for _, key := range []stack.Key{balancerKey(), netBalancerKey()} {
		if lb, ok := have.Get(key); ok && lb.ID != "" {
			return []providers.PodGate{{Type: gatePrefix + have.Owner.Name, Of: key}}
		}
	}
	return nil
}
