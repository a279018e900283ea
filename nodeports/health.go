package nodeports

import (
	corev1 "k8s.io/api/core/v1"
)

const (
	// KubeProxyPort is the port at which kube-proxy answers for the whole node. Other
	// service proxies need not answer there.
	// Source: kubernetes/kubernetes:pkg/proxy/healthcheck/proxy_health.go.
	KubeProxyPort int32 = 10256

	// HealthPath is the path for both the node-wide and the per-Service check.
	// Source: kubernetes/cloud-provider:service/helpers/helper.go.
	HealthPath = "/healthz"
)

// HealthSource is the origin of the health check of node backends.
type HealthSource string

const (
	// HealthByProvider leaves the choice to the provider: every node forwards
	// (externalTrafficPolicy Cluster), so it may probe the traffic port, or
	// kube-proxy through SharedHealth, as its reference does.
	HealthByProvider HealthSource = "Provider"

	// HealthByService is the Service's own check node port: it answers 200 only
	// on nodes with ready endpoints (externalTrafficPolicy Local).
	HealthByService HealthSource = "Service"

	// HealthMissing is externalTrafficPolicy Local without a check node port.
	// The API server always allocates one, so this is an incomplete object or
	// one that did not pass it. Any other probe would send traffic to nodes that drop
	// it.
	HealthMissing HealthSource = "Missing"
)

// Health is the health check that the Service itself requests on nodes. Path
// and Port are set with HealthByService only; the check is plain HTTP.
type Health struct {
	Source HealthSource
	Path   string
	Port   int32
}

// HealthOf selects by the external traffic policy.
func HealthOf(svc *corev1.Service) Health {
	switch {
	case !LocalOnly(svc):
		return Health{Source: HealthByProvider}
	case svc.Spec.HealthCheckNodePort == 0:
		return Health{Source: HealthMissing}
	default:
		return Health{Source: HealthByService, Path: HealthPath, Port: svc.Spec.HealthCheckNodePort}
	}
}

// Message describes the problem in a sentence; empty if there is none.
func (h Health) Message() string {
	if h.Source != HealthMissing {
		return ""
	}
	return "spec.healthCheckNodePort is 0 although spec.externalTrafficPolicy is Local: nodes without endpoints cannot be distinguished from nodes with endpoints"
}

// SharedHealth returns the node-wide check answered by kube-proxy. For Services with
// policy Cluster it drains nodes that are about to be removed, which a TCP check of a
// node port does not. Source: KEP-3836.
func SharedHealth() Health {
	return Health{Source: HealthByProvider, Path: HealthPath, Port: KubeProxyPort}
}

// LocalOnly reports whether nodes forward traffic only to their own pods.
func LocalOnly(svc *corev1.Service) bool {
	return svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}
