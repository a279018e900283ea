package compute

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// maxRulePorts is how many ports a rule lists at most.
// Source: Compute Engine API reference, forwardingRules.ports.
const maxRulePorts = 5

func forwardingRules() *collection {
	return &collection{
		name: "forwardingRules", param: "forwardingRule", at: []string{"global", "region"},
		prefix: map[string]string{"global": "globalForwardingRules"}, print: "given",
		verbs: map[string][]string{"region": {"insert", "patch", "delete"}},
		schema: withCommonFields(wire.Schema{
			"IPAddress": {}, "IPProtocol": {Values: []string{"TCP", "UDP", "ESP", "AH", "SCTP", "ICMP", "L3_DEFAULT"}}, "allPorts": {Type: wire.Truth},
			"allowGlobalAccess": {Type: wire.Truth}, "backendService": {}, "fingerprint": {Type: wire.Bytes}, "ipVersion": {Values: []string{"IPV4", "IPV6"}},
			"labelFingerprint": {Type: wire.Bytes}, "labels": {Type: wire.Map}, "network": {}, "subnetwork": {}, "serviceLabel": {}, "serviceName": {Output: true},
			"loadBalancingScheme": {Values: []string{"EXTERNAL", "INTERNAL", "EXTERNAL_MANAGED", "INTERNAL_MANAGED", "INTERNAL_SELF_MANAGED"}},
			"networkTier":         {Values: []string{"PREMIUM", "STANDARD"}}, "portRange": {}, "ports": {List: true}, "target": {}, "sourceIpRanges": {List: true},
			"isMirroringCollector": {Type: wire.Truth}, "noAutomateDnsZone": {Type: wire.Truth}, "ipCollection": {},
		}),
		finish:  (*call).finishRule,
		patch:   (*call).patchRule,
		changes: map[string]func(*call, *entry) error{"setTarget": (*call).setTarget},
		quota: func(doc wire.Object) string {
			if doc.Text("loadBalancingScheme") == "INTERNAL" {
				return "INTERNAL_FORWARDING_RULES"
			}
			return "FORWARDING_RULES"
		},
	}
}

func (c *call) finishRule(old *entry, doc wire.Object) error {
	if old != nil {
		// A patch was looked at before, and changes nothing that is checked here.
		return nil
	}
	doc.Default("loadBalancingScheme", "EXTERNAL")
	doc.Default("IPProtocol", "TCP")
	doc.Default("labelFingerprint", noLabels)
	if labels := doc.Object("labels"); len(labels) > 0 {
		doc["labelFingerprint"] = labels.Fingerprint()
	}
	scheme := doc.Text("loadBalancingScheme")
	if scheme != "EXTERNAL" && scheme != "INTERNAL" {
		return wire.Invalid("resource.loadBalancingScheme", scheme, "The simulator has passthrough load balancers only: EXTERNAL, INTERNAL.")
	}
	if doc.Has("target") == doc.Has("backendService") {
		return wire.Usage("Exactly one of 'target' and 'backendService' must be specified for a forwarding rule.")
	}
	for _, step := range []func(wire.Object) error{c.ruleBackend, checkRulePorts, c.ruleNetwork, c.ruleAddress, c.ruleConflict} {
		if err := step(doc); err != nil {
			return err
		}
	}
	if !doc.Truth("allowGlobalAccess") {
		delete(doc, "allowGlobalAccess")
	} else if scheme != "INTERNAL" {
		return wire.Invalid("resource.allowGlobalAccess", true, "Global access is only for internal load balancers.")
	}
	if !doc.Truth("allPorts") {
		delete(doc, "allPorts")
	}
	return nil
}

// ruleBackend checks what the rule sends to: a target pool, or a backend service
// of the same scheme whose protocol fits.
func (c *call) ruleBackend(doc wire.Object) error {
	if doc.Has("target") {
		if doc.Text("loadBalancingScheme") == "INTERNAL" {
			return wire.Invalid("resource.target", doc.Text("target"), "An internal forwarding rule must have a backend service.")
		}
		return c.linkPool(doc, "resource.target")
	}
	ref, err := wire.ParseRef(doc.Text("backendService"), c.project(), "backendServices", "resource.backendService")
	if err != nil {
		return err
	}
	if ref.Scope != c.scope() {
		return wire.Invalid("resource.backendService", doc.Text("backendService"), "The backend service must be in the region of the forwarding rule.")
	}
	service, err := c.find(ref)
	if err != nil {
		return err
	}
	doc["backendService"] = ref.URL()
	if scheme := service.doc.Text("loadBalancingScheme"); scheme != doc.Text("loadBalancingScheme") {
		return wire.Invalid("resource.loadBalancingScheme", doc.Text("loadBalancingScheme"), "The load balancing scheme of the backend service is %s, that of the forwarding rule must be the same.", scheme)
	}
	if !protocolFits(doc.Text("IPProtocol"), service.doc.Text("protocol")) {
		return wire.Invalid("resource.IPProtocol", doc.Text("IPProtocol"), "The protocol of the backend service is %s, which does not fit the forwarding rule.", service.doc.Text("protocol"))
	}
	return nil
}

// protocolFits reports whether the protocols of rule and backend service match: an
// unspecified protocol accepts all of them, any other only its own.
// Source: Cloud Load Balancing documentation, backend service-based external
// passthrough Network Load Balancer, protocols.
func protocolFits(rule, service string) bool {
	switch rule {
	case "TCP", "UDP":
		return service == rule || service == "UNSPECIFIED"
	case "L3_DEFAULT":
		return service == "UNSPECIFIED"
	}
	return false
}

func (c *call) linkPool(doc wire.Object, at string) error {
	ref, err := wire.ParseRef(doc.Text("target"), c.project(), "targetPools", at)
	if err != nil {
		return err
	}
	if ref.Scope != c.scope() {
		return wire.Invalid(at, doc.Text("target"), "The target must be in the region of the forwarding rule.")
	}
	if _, err := c.find(ref); err != nil {
		return err
	}
	doc["target"] = ref.URL()
	if p := doc.Text("IPProtocol"); p != "TCP" && p != "UDP" {
		return wire.Invalid("resource.IPProtocol", p, "A target pool takes TCP and UDP.")
	}
	if doc.Text("ipVersion") == "IPV6" {
		return wire.Invalid("resource.ipVersion", "IPV6", "A target pool takes IPv4 only.")
	}
	return nil
}

// checkRulePorts checks ports, portRange and allPorts, which exclude each other.
// Source: Compute Engine API reference, forwardingRules.
func checkRulePorts(doc wire.Object) error {
	ports := doc.Texts("ports")
	ways := 0
	for _, has := range []bool{len(ports) > 0, doc.Text("portRange") != "", doc.Truth("allPorts")} {
		if has {
			ways++
		}
	}
	if ways > 1 {
		return wire.Usage("Fields 'ports', 'portRange' and 'allPorts' of a forwarding rule are mutually exclusive.")
	}
	pool, internal := doc.Has("target"), doc.Text("loadBalancingScheme") == "INTERNAL"
	switch {
	case doc.Text("IPProtocol") == "L3_DEFAULT" && !doc.Truth("allPorts"):
		return wire.Invalid("resource.allPorts", false, "The protocol L3_DEFAULT requires all ports.")
	case pool && len(ports) > 0:
		return wire.Invalid("resource.ports", strings.Join(ports, ","), "A forwarding rule with a target pool must have a portRange.")
	case pool && doc.Truth("allPorts"):
		return wire.Invalid("resource.allPorts", true, "A forwarding rule with a target pool must have a portRange.")
	case internal && doc.Text("portRange") != "":
		return wire.Invalid("resource.portRange", doc.Text("portRange"), "An internal forwarding rule must have ports or all ports.")
	case internal && ways == 0:
		return wire.Required("resource.ports")
	case !pool && ways == 0:
		return wire.Required("resource.portRange")
	case len(ports) > maxRulePorts:
		return wire.Invalid("resource.ports", strings.Join(ports, ","), "The number of ports exceeds the limit of %d.", maxRulePorts)
	}
	seen := map[string]bool{}
	for i, p := range ports {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 || n > 65535 || seen[p] {
			return wire.Invalid(fmt.Sprintf("resource.ports[%d]", i), p, "Must be a port between 1 and 65535 that is not listed twice.")
		}
		seen[p] = true
	}
	if ways == 0 {
		doc["portRange"] = "1-65535"
	}
	if text := doc.Text("portRange"); text != "" {
		low, high, ok := portRange(text)
		if !ok || low < 1 {
			return wire.Invalid("resource.portRange", text, "Must be a port or a range of ports between 1 and 65535.")
		}
		doc["portRange"] = fmt.Sprintf("%d-%d", low, high)
	}
	return nil
}

// patchRule lets only those fields change that the API does not ask to recreate
// the rule for; others may be sent as they are.
func (c *call) patchRule(old *entry, patch wire.Object) (wire.Object, error) {
	doc := old.doc.Merge(patch)
	for name := range patch {
		switch name {
		case "allowGlobalAccess", "labels", "sourceIpRanges", "fingerprint", "name":
			continue
		}
		before, after := wire.Object{"v": old.doc[name]}, wire.Object{"v": doc[name]}
		if before.Fingerprint() != after.Fingerprint() {
			return nil, wire.Invalid("resource."+name, patch[name], "The field of a forwarding rule cannot be changed.")
		}
	}
	if patch.Has("allowGlobalAccess") && old.doc.Text("loadBalancingScheme") != "INTERNAL" {
		return nil, wire.Invalid("resource.allowGlobalAccess", patch["allowGlobalAccess"], "Global access is only for internal load balancers.")
	}
	if !doc.Truth("allowGlobalAccess") {
		delete(doc, "allowGlobalAccess")
	}
	return doc, nil
}

func (c *call) setTarget(rule *entry) error {
	if !rule.doc.Has("target") {
		return wire.Invalid("resource.target", c.Body.Text("target"), "The new target must be of the same type as the old one.")
	}
	rule.doc["target"] = c.Body.Text("target")
	return c.linkPool(rule.doc, "resource.target")
}
