package model

import (
	"cmp"

	"github.com/berth-lb/berth/stack"
)

// What AWS gives to things that were just made, so that a setting which is
// already as wanted costs no call.

// defaultClassicAttributes. Source: Elastic Load Balancing API 2012-06-01, LoadBalancerAttributes.
func defaultClassicAttributes(stack.Resource) stack.Spec {
	return ClassicAttributes{
		CrossZone: new(false), DrainingEnabled: new(false), DrainingTimeout: new(int32(300)),
		IdleTimeout: new(int32(60)), LogEnabled: new(false),
	}
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

// Attributes that annotations set.
const (
	attrCrossZone  = "load_balancing.cross_zone.enabled"
	attrLogs       = "access_logs.s3.enabled"
	attrLogsBucket = "access_logs.s3.bucket"
	attrLogsPrefix = "access_logs.s3.prefix"
	attrPreserveIP = "preserve_client_ip.enabled"
	attrProxyV2    = "proxy_protocol_v2.enabled"
)
