package model

import (
	"cmp"

	"github.com/berth-lb/berth/stack"
)

// Defaults of AWS: what a created resource has, so that a setting which is already as desired
// costs no call, and what a resource has that AWS does not show.

// defaultClassicAttributes. Source: Elastic Load Balancing API 2012-06-01, LoadBalancerAttributes.
func defaultClassicAttributes(stack.Resource) stack.Spec {
	return ClassicAttributes{
		CrossZone: new(false), DrainingEnabled: new(false), DrainingTimeout: new(int32(300)),
		IdleTimeout: new(int32(60)), LogEnabled: new(false),
	}
}

// AttributesOfClassic returns the attributes that AWS has listed for a Classic Load Balancer, and
// the defaults of the ones that are missing: its API requires none in the answer.
func AttributesOfClassic(listed ClassicAttributes) ClassicAttributes {
	defaults, _ := defaultClassicAttributes(stack.Resource{}).(ClassicAttributes)
	return listed.Over(defaults)
}

// AttributesOfNetwork does so for a Network Load Balancer.
func AttributesOfNetwork(listed Tags) Attributes {
	return fillDefaults(defaultNetworkAttributes, Attributes{Values: listed})
}

// AttributesOfTargets does so for a target group of a type of targets.
func AttributesOfTargets(listed Tags, targetType string) Attributes {
	return fillDefaults(defaultTargetAttributes, Attributes{Values: listed, Type: targetType})
}

// AttributesOfListener does so for a listener.
func AttributesOfListener(listed Tags) Attributes {
	return fillDefaults(defaultListenerAttributes, Attributes{Values: listed})
}

func fillDefaults(defaultsOf func(stack.Resource) stack.Spec, listed Attributes) Attributes {
	defaults, _ := defaultsOf(stack.Resource{Spec: listed}).(Attributes)
	return Attributes{Values: Over(defaults.Values, listed.Values)}
}

// Over fills what is not wanted with what was found.
func (a ClassicAttributes) Over(found ClassicAttributes) ClassicAttributes {
	return ClassicAttributes{
		CrossZone:       cmp.Or(a.CrossZone, found.CrossZone),
		DrainingEnabled: cmp.Or(a.DrainingEnabled, found.DrainingEnabled),
		DrainingTimeout: cmp.Or(a.DrainingTimeout, found.DrainingTimeout),
		IdleTimeout:     cmp.Or(a.IdleTimeout, found.IdleTimeout),
		LogEnabled:      cmp.Or(a.LogEnabled, found.LogEnabled),
		LogBucket:       cmp.Or(a.LogBucket, found.LogBucket),
		LogPrefix:       cmp.Or(a.LogPrefix, found.LogPrefix),
		LogEmitInterval: cmp.Or(a.LogEmitInterval, found.LogEmitInterval),
	}
}

// defaultPolicies: no backend policies, and for listeners none of ours.
func defaultPolicies(r stack.Resource) stack.Spec {
	spec, _ := r.Spec.(ClassicPolicies)
	return ClassicPolicies{Port: spec.Port}
}

// defaultNetworkAttributes. Source: Elastic Load Balancing User Guide, load balancer attributes.
func defaultNetworkAttributes(stack.Resource) stack.Spec {
	return Attributes{Values: Tags{
		attrCrossZone: "false", attrLogs: "false", attrLogsBucket: "", attrLogsPrefix: "",
		"deletion_protection.enabled": "false",
	}}
}

// defaultTargetAttributes are those of a group of instances.
// Source: Elastic Load Balancing User Guide, target group attributes.
func defaultTargetAttributes(r stack.Resource) stack.Spec {
	if spec, _ := r.Spec.(Attributes); spec.Type == targetIP {
		// Whether addresses of clients are kept depends on the protocol, so it is written.
		return Attributes{Values: Tags{attrProxyV2: "false"}}
	}
	return Attributes{Values: Tags{attrPreserveIP: "true", attrProxyV2: "false"}}
}

// defaultListenerAttributes. Source: Elastic Load Balancing User Guide, listener attributes.
func defaultListenerAttributes(stack.Resource) stack.Spec {
	return Attributes{Values: Tags{"tcp.idle_timeout.seconds": "350"}}
}

// Attributes that annotations set.
const (
	attrCrossZone  = "load_balancing.cross_zone.enabled"
	attrLogs       = "access_logs.s3.enabled"
	attrLogsBucket = "access_logs.s3.bucket"
	attrLogsPrefix = "access_logs.s3.prefix"
	attrPreserveIP = "preserve_client_ip.enabled"
	attrProxyV2    = "proxy_protocol_v2.enabled"
)
