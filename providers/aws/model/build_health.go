package model

import (
	"cmp"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
)

// sharedProbe is the check of kube-proxy on the node, where the configuration
// asks for it. It is for traffic policy Cluster alone: with Local the Service's
// own check knows more.
func sharedProbe(in input) (nodeports.Health, bool) {
	if in.Config.Probe.Mode != probeShared || nodeports.LocalOnly(in.Service) {
		return nodeports.Health{}, false
	}
	h := nodeports.SharedHealth()
	h.Port = cmp.Or(in.Config.Probe.Port, h.Port)
	h.Path = cmp.Or(in.Config.Probe.Path, h.Path)
	return h, true
}

// classicCheck is the one check of a Classic Load Balancer. firstPort is the node
// port of its first listener. Annotations win over the shared probe.
// Source: kubernetes/cloud-provider-aws:pkg/providers/v1/aws_loadbalancer.go (ensureLoadBalancerHealthCheck).
func classicCheck(in input, firstPort int32) ClassicHealthCheck {
	v := in.Values
	protocol, port, path := classicProbe(in, firstPort)
	if said, _, ok := checkProtocolKey.Lookup(v); ok {
		protocol = said
	}
	switch said, _, ok := checkPortKey.Lookup(v); {
	case ok && said == trafficPort && nodeports.LocalOnly(in.Service):
		port = Decimal(firstPort)
	case ok && said != trafficPort:
		port = said
	}
	if protocol == "HTTP" || protocol == "HTTPS" {
		said, _, _ := checkPathKey.Lookup(v)
		path = cmp.Or(said, path, "/")
	} else {
		path = ""
	}
	return ClassicHealthCheck{
		Target:   protocol + ":" + port + path,
		Interval: int32(checkIntervalKey.Get(v)), Timeout: int32(checkTimeoutKey.Get(v)),
		Healthy: int32(healthyKey.Get(v)), Unhealthy: int32(unhealthyKey.Get(v)),
	}
}

// classicProbe is the check before annotations: that of the Service, that of
// kube-proxy, or a plain connection to the first node port.
func classicProbe(in input, firstPort int32) (protocol, port, path string) {
	if nodeports.LocalOnly(in.Service) {
		return "HTTP", Decimal(in.Backends.Health.Port), nodeports.HealthPath
	}
	if h, shared := sharedProbe(in); shared {
		return "HTTP", Decimal(h.Port), h.Path
	}
	switch strings.ToLower(backendKey.Get(in.Values)) {
	case "https", "ssl":
		return "SSL", Decimal(firstPort), ""
	}
	return "TCP", Decimal(firstPort), ""
}

// targetCheck is the check of a target group.
type targetCheck struct {
	protocol, port, path                  string
	interval, timeout, healthy, unhealthy int32 // times in seconds; timeout 0: AWS's own
}

// fastTimeout is the timeout of a check whose interval leaves no room for that of AWS,
// which is 10 seconds for TCP and HTTPS and 6 for HTTP: AWS refuses a check that is not
// over before the next one begins. Source: API reference, CreateTargetGroup
// (HealthCheckTimeoutSeconds).
func (c targetCheck) fastTimeout() int32 {
	usual := int32(10)
	if c.protocol == "HTTP" {
		usual = 6
	}
	if c.interval >= usual {
		return 0
	}
	return c.interval
}

// networkCheck is the check of all target groups of a Service. The shared probe
// wins over annotations here, other than for Classic Load Balancers.
// Source: kubernetes/cloud-provider-aws:pkg/providers/v1/aws.go (buildNLBHealthCheckConfiguration).
func networkCheck(in input) targetCheck {
	v := in.Values
	c := targetCheck{protocol: "TCP", port: trafficPort, path: "/", interval: 30, healthy: 3, unhealthy: 3}
	if nodeports.LocalOnly(in.Service) {
		c = targetCheck{protocol: "HTTP", port: Decimal(in.Backends.Health.Port), path: nodeports.HealthPath, interval: 10, healthy: 2, unhealthy: 2}
	}
	overrideText(v, checkProtocolKey, &c.protocol)
	overrideText(v, checkPathKey, &c.path)
	overrideText(v, checkPortKey, &c.port)
	if h, shared := sharedProbe(in); shared {
		c.protocol, c.port, c.path = "HTTP", Decimal(h.Port), h.Path
	}
	if c.protocol == "TCP" {
		c.path = ""
	}
	overrideNumber(v, checkIntervalKey, &c.interval)
	overrideNumber(v, healthyKey, &c.healthy)
	overrideNumber(v, unhealthyKey, &c.unhealthy)
	c.timeout = c.fastTimeout()
	return c
}

func overrideText(v *annotations.Bag, k *annotations.Key[string], to *string) {
	if said, _, ok := k.Lookup(v); ok {
		*to = said
	}
}

func overrideNumber(v *annotations.Bag, k *annotations.Key[int], to *int32) {
	if said, _, ok := k.Lookup(v); ok {
		*to = int32(said)
	}
}
