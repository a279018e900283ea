package compute

import (
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

func backendServices() *collection {
	return &collection{
		name: "backendServices", param: "backendService", at: []string{"global", "region"},
		prefix: map[string]string{"region": "regionBackendServices"}, print: "always",
		verbs:  map[string][]string{"region": {"insert", "update", "patch", "delete"}},
		views:  map[string]func(*call, *entry) (wire.Object, error){"getHealth": (*call).groupHealth},
		schema: withCommonFields(backendSchema()),
		finish: (*call).finishService,
		guard:  requireUnused(link{"forwardingRules", fieldValues("backendService")}),
		show: func(c *call, e *entry, doc wire.Object) {
			var users []any
			for _, rule := range c.rulesOf(e.ref.URL()) {
				users = append(users, wire.Object{"reference": rule.ref.URL()})
			}
			doc["usedBy"] = users
		},
		quota: func(doc wire.Object) string {
			if doc.Text("loadBalancingScheme") == "INTERNAL" {
				return "REGIONAL_INTERNAL_LB_BACKEND_SERVICES"
			}
			return "REGIONAL_EXTERNAL_NETWORK_LB_BACKEND_SERVICES"
		},
	}
}

func backendSchema() wire.Schema {
	truth, whole, number := wire.Field{Type: wire.Truth}, wire.Field{Type: wire.Int}, wire.Field{Type: wire.Number}
	nested := func(s wire.Schema) wire.Field { return wire.Field{Type: wire.Nested, Fields: s} }
	return wire.Schema{
		"backends": {Type: wire.Nested, List: true, Fields: wire.Schema{
			"group": {}, "description": {}, "failover": truth, "balancingMode": {Values: []string{"CONNECTION", "RATE", "UTILIZATION"}},
			"capacityScaler": number, "maxConnections": whole, "maxConnectionsPerEndpoint": whole, "maxConnectionsPerInstance": whole,
			"maxRate": whole, "maxRatePerEndpoint": number, "maxRatePerInstance": number, "maxUtilization": number,
		}},
		"connectionDraining": nested(wire.Schema{"drainingTimeoutSec": whole}),
		"connectionTrackingPolicy": nested(wire.Schema{
			"connectionPersistenceOnUnhealthyBackends": {Values: []string{"DEFAULT_FOR_PROTOCOL", "NEVER_PERSIST", "ALWAYS_PERSIST"}},
			"enableStrongAffinity":                     truth, "idleTimeoutSec": whole, "trackingMode": {Values: []string{"PER_CONNECTION", "PER_SESSION"}},
		}),
		"failoverPolicy": nested(wire.Schema{"disableConnectionDrainOnFailover": truth, "dropTrafficIfUnhealthy": truth, "failoverRatio": number}),
		"fingerprint":    {Type: wire.Bytes}, "healthChecks": {List: true},
		"loadBalancingScheme": {Values: []string{"EXTERNAL", "INTERNAL", "EXTERNAL_MANAGED", "INTERNAL_MANAGED", "INTERNAL_SELF_MANAGED"}},
		"localityLbPolicy":    {Values: []string{"MAGLEV", "WEIGHTED_MAGLEV", "WEIGHTED_GCP_RENDEZVOUS", "ROUND_ROBIN", "LEAST_REQUEST", "RING_HASH", "RANDOM", "ORIGINAL_DESTINATION", "WEIGHTED_ROUND_ROBIN"}},
		"logConfig":           nested(wire.Schema{"enable": truth, "sampleRate": number, "optionalMode": {Values: []string{"EXCLUDE_ALL_OPTIONAL", "INCLUDE_ALL_OPTIONAL", "CUSTOM"}}, "optionalFields": {List: true}}),
		"network":             {},
		"networkPassThroughLbTrafficPolicy": nested(wire.Schema{"zonalAffinity": nested(wire.Schema{
			"spillover":      {Values: []string{"ZONAL_AFFINITY_DISABLED", "ZONAL_AFFINITY_SPILL_CROSS_ZONE", "ZONAL_AFFINITY_STAY_WITHIN_ZONE"}},
			"spilloverRatio": number,
		})}),
		"port": whole, "portName": {}, "protocol": {Values: []string{"TCP", "UDP", "UNSPECIFIED", "HTTP", "HTTPS", "HTTP2", "SSL", "GRPC"}},
		"sessionAffinity": {Values: []string{"NONE", "CLIENT_IP", "CLIENT_IP_PROTO", "CLIENT_IP_PORT_PROTO", "CLIENT_IP_NO_DESTINATION", "GENERATED_COOKIE", "HEADER_FIELD", "HTTP_COOKIE"}},
		"subsetting":      nested(wire.Schema{"policy": {Values: []string{"NONE", "CONSISTENT_HASH_SUBSETTING"}}}), "timeoutSec": whole,
		"enableCDN": truth, "usedBy": {Type: wire.Nested, List: true, Output: true},
	}
}

// finishService checks a backend service of a passthrough load balancer.
// Source: Compute Engine API reference, regionBackendServices.
func (c *call) finishService(old *entry, doc wire.Object) error {
	if err := checkImmutable(old, doc, "loadBalancingScheme"); err != nil {
		return err
	}
	delete(doc, "usedBy")
	doc["fingerprint"] = ""
	doc.Default("loadBalancingScheme", "EXTERNAL")
	doc.Default("protocol", "TCP")
	doc.Default("sessionAffinity", "NONE")
	doc.Default("timeoutSec", float64(30))
	doc.Default("connectionDraining", wire.Object{})
	doc.Object("connectionDraining").Default("drainingTimeoutSec", float64(0))
	for _, step := range []func(*entry, wire.Object) error{
		checkBasics, c.serviceNetwork, c.serviceChecks, checkAffinity, checkPolicies, c.serviceBackends, c.protocolInUse,
	} {
		if err := step(old, doc); err != nil {
			return err
		}
	}
	return nil
}

func checkBasics(_ *entry, doc wire.Object) error {
	scheme := doc.Text("loadBalancingScheme")
	if scheme != "EXTERNAL" && scheme != "INTERNAL" {
		return wire.Invalid("resource.loadBalancingScheme", scheme, "The simulator has passthrough load balancers only: EXTERNAL, INTERNAL.")
	}
	if err := oneOf("resource.protocol", doc.Text("protocol"), "TCP", "UDP", "UNSPECIFIED"); err != nil {
		return err
	}
	if doc.Has("portName") {
		return wire.Invalid("resource.portName", doc.Text("portName"), "The port name cannot be set for a passthrough load balancer.")
	}
	if doc.Truth("enableCDN") {
		return wire.Invalid("resource.enableCDN", true, "Cloud CDN is not for passthrough load balancers.")
	}
	return checkRange("resource.connectionDraining.drainingTimeoutSec", doc.Object("connectionDraining").Num("drainingTimeoutSec"), 0, 3600)
}

func (c *call) serviceNetwork(old *entry, doc wire.Object) error {
	if !doc.Has("network") {
		return nil
	}
	if doc.Text("loadBalancingScheme") != "INTERNAL" {
		return wire.Invalid("resource.network", doc.Text("network"), "The network can only be set for the load balancing scheme INTERNAL.")
	}
	network, err := c.network(doc.Text("network"), "resource.network")
	if err != nil {
		return err
	}
	doc["network"] = network.ref.URL()
	return checkImmutable(old, doc, "network")
}

// serviceChecks wants exactly one health check; external ones must be regional.
func (c *call) serviceChecks(_ *entry, doc wire.Object) error {
	list := doc.Texts("healthChecks")
	if len(list) != 1 {
		return wire.Invalid("resource.healthChecks", strings.Join(list, ","), "Exactly one health check must be specified.")
	}
	ref, err := wire.ParseRef(list[0], c.project(), "healthChecks", "resource.healthChecks[0]")
	if err != nil {
		return err
	}
	if ref.Scope != c.scope() && (ref.Scope != "global" || doc.Text("loadBalancingScheme") == "EXTERNAL") {
		return wire.Invalid("resource.healthChecks[0]", list[0], "The health check must be in the region of the backend service.")
	}
	if _, err := c.find(ref); err != nil {
		return err
	}
	doc["healthChecks"] = wire.Texts(ref.URL())
	return nil
}

func checkAffinity(_ *entry, doc wire.Object) error {
	affinity, internal := doc.Text("sessionAffinity"), doc.Text("loadBalancingScheme") == "INTERNAL"
	legal := []string{"NONE", "CLIENT_IP", "CLIENT_IP_PROTO", "CLIENT_IP_PORT_PROTO"}
	if internal {
		legal = append(legal, "CLIENT_IP_NO_DESTINATION")
	}
	if err := oneOf("resource.sessionAffinity", affinity, legal...); err != nil {
		return err
	}
	policy := doc.Object("connectionTrackingPolicy")
	if policy == nil {
		return nil
	}
	const at = "resource.connectionTrackingPolicy."
	policy.Default("trackingMode", "PER_CONNECTION")
	policy.Default("connectionPersistenceOnUnhealthyBackends", "DEFAULT_FOR_PROTOCOL")
	session := policy.Text("trackingMode") == "PER_SESSION"
	coarse := affinity == "CLIENT_IP" || affinity == "CLIENT_IP_PROTO" || affinity == "CLIENT_IP_NO_DESTINATION"
	switch {
	case policy.Text("connectionPersistenceOnUnhealthyBackends") == "ALWAYS_PERSIST" && !session:
		return wire.Invalid(at+"connectionPersistenceOnUnhealthyBackends", "ALWAYS_PERSIST", "It requires the tracking mode PER_SESSION.")
	case policy.Truth("enableStrongAffinity") && internal:
		return wire.Invalid(at+"enableStrongAffinity", true, "Strong session affinity is for external load balancers.")
	case policy.Truth("enableStrongAffinity") && (!session || !coarse):
		return wire.Invalid(at+"enableStrongAffinity", true, "It requires session affinity by client address and the tracking mode PER_SESSION.")
	case !policy.Has("idleTimeoutSec"):
		return nil
	case internal && (!session || !coarse):
		return wire.Invalid(at+"idleTimeoutSec", policy.Num("idleTimeoutSec"), "It can only be set with session affinity by client address and the tracking mode PER_SESSION.")
	case internal:
		return checkRange(at+"idleTimeoutSec", policy.Num("idleTimeoutSec"), 600, 57600)
	}
	return checkRange(at+"idleTimeoutSec", policy.Num("idleTimeoutSec"), 60, 57600)
}

func checkPolicies(_ *entry, doc wire.Object) error {
	internal := doc.Text("loadBalancingScheme") == "INTERNAL"
	if policy := doc.Text("localityLbPolicy"); policy != "" {
		legal := []string{"MAGLEV", "WEIGHTED_MAGLEV"}
		if internal {
			legal = append(legal, "WEIGHTED_GCP_RENDEZVOUS")
		}
		if err := oneOf("resource.localityLbPolicy", policy, legal...); err != nil {
			return err
		}
	}
	if log := doc.Object("logConfig"); log != nil {
		log.Default("enable", false)
		if log.Truth("enable") {
			log.Default("sampleRate", float64(1))
		}
		if err := checkRange("resource.logConfig.sampleRate", log.Num("sampleRate"), 0, 1); err != nil {
			return err
		}
		if fields := log.Texts("optionalFields"); len(fields) > 0 && log.Text("optionalMode") != "CUSTOM" {
			return wire.Invalid("resource.logConfig.optionalFields", strings.Join(fields, ","), "Optional fields can only be given with the optional mode CUSTOM.")
		}
	}
	if failover := doc.Object("failoverPolicy"); failover != nil {
		if err := checkRange("resource.failoverPolicy.failoverRatio", failover.Num("failoverRatio"), 0, 1); err != nil {
			return err
		}
		if failover.Truth("disableConnectionDrainOnFailover") && doc.Text("protocol") != "TCP" {
			return wire.Invalid("resource.failoverPolicy.disableConnectionDrainOnFailover", true, "It can only be set for the protocol TCP.")
		}
	}
	zonal := doc.Object("networkPassThroughLbTrafficPolicy").Object("zonalAffinity")
	if spill := zonal.Text("spillover"); spill != "" && spill != "ZONAL_AFFINITY_DISABLED" && !internal {
		return wire.Invalid("resource.networkPassThroughLbTrafficPolicy.zonalAffinity.spillover", spill, "Zonal affinity is for internal load balancers.")
	}
	return checkRange("resource.networkPassThroughLbTrafficPolicy.zonalAffinity.spilloverRatio", zonal.Num("spilloverRatio"), 0, 1)
}

// protocolInUse keeps a change of protocol from leaving a rule with another one.
func (c *call) protocolInUse(old *entry, doc wire.Object) error {
	if old == nil {
		return nil
	}
	for _, rule := range c.rulesOf(old.ref.URL()) {
		if !protocolFits(rule.doc.Text("IPProtocol"), doc.Text("protocol")) {
			return wire.Invalid("resource.protocol", doc.Text("protocol"), "The forwarding rule '%s' with protocol %s uses the backend service.", rule.ref.Path(), rule.doc.Text("IPProtocol"))
		}
	}
	return nil
}
