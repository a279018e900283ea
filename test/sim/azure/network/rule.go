package network

import (
	"strconv"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// Limits of probes and rules. Source: Azure REST API reference, load balancers.
const (
	minProbeInterval  = 5
	maxProbeThreshold = 100
	minIdle           = 4
	maxIdle           = 100
	maxNatIdle        = 30
	maxOutboundIdle   = 120
	maxPort           = 65535
	// maxFrontendPort leaves the last port out.
	maxFrontendPort = 65534
)

func (b *balancer) probes() *arm.Error {
	return arm.Each(b.list(probes), func(p arm.Doc) *arm.Error {
		id, props := arm.Text(p, "id"), arm.Object(p, "properties")
		if err := checkFields(id, props, choiceField("protocol", "", "Tcp", "Http", "Https")); err != nil {
			return err
		}
		path, tcp := arm.Text(props, "requestPath"), arm.Text(props, "protocol") == "Tcp"
		switch {
		case !tcp && path == "":
			return arm.Badf("RequestPathRequiredForHttpProbe", "Probe %s with protocol %s must have a request path.", id, arm.Text(props, "protocol"))
		case tcp && path != "":
			return arm.Badf("RequestPathNotAllowedForTcpProbe", "Probe %s with protocol Tcp must not have a request path.", id)
		}
		return checkFields(id, props,
			numberField("port", 0, 1, maxPort, "LoadBalancerProbePortInvalid"),
			numberField("intervalInSeconds", 15, minProbeInterval, 2147483646, "LoadBalancerProbeIntervalInvalid"),
			numberField("numberOfProbes", 1, 1, 2147483646, "LoadBalancerProbeNumberOfProbesInvalid"),
			numberField("probeThreshold", 1, 1, maxProbeThreshold, "LoadBalancerProbeThresholdInvalid"))
	})
}

func (b *balancer) rules() *arm.Error {
	return arm.Each(b.list(rules), func(r arm.Doc) *arm.Error {
		if err := b.ruleFields(r); err != nil {
			return err
		}
		return b.ruleLinks(r)
	})
}

func (b *balancer) ruleFields(r arm.Doc) *arm.Error {
	id, props := arm.Text(r, "id"), arm.Object(r, "properties")
	err := checkFields(id, props, choiceField("protocol", "", "Tcp", "Udp", "All", "Quic"), choiceField("loadDistribution", "Default", "Default", "SourceIP", "SourceIPProtocol"), idleField(maxIdle))
	if err != nil {
		return err
	}
	for _, name := range []string{"enableFloatingIP", "enableTcpReset", "disableOutboundSnat"} {
		arm.Default(props, false, name)
	}
	all := arm.Text(props, "protocol") == "All"
	low := 1
	if all {
		low = 0
	}
	arm.Default(props, arm.Value(props, "frontendPort"), "backendPort")
	err = checkFields(id, props, numberField("frontendPort", 0, low, maxFrontendPort, "LoadBalancingRuleFrontendPortInvalid"), numberField("backendPort", 0, low, maxPort, "LoadBalancingRuleBackendPortInvalid"))
	if err != nil {
		return err
	}
	front, _ := arm.Number(props, "frontendPort")
	back, _ := arm.Number(props, "backendPort")
	switch {
	case all && (front != 0 || back != 0):
		return arm.Badf("LoadBalancingRuleProtocolAllRequiresPortZero", "Load balancing rule %s with protocol All must have frontend port 0 and backend port 0.", id)
	case all && arm.Text(b.Doc, "sku", "name") == "Basic":
		return arm.Badf("HAPortsNotSupportedForBasicSku", "Load balancing rule %s with protocol All needs a load balancer of the Standard SKU.", id)
	}
	return nil
}

func (b *balancer) ruleLinks(r arm.Doc) *arm.Error {
	props := arm.Object(r, "properties")
	front, err := b.find(r, arm.Text(props, "frontendIPConfiguration", "id"))
	if err != nil {
		return err
	}
	if arm.Text(props, "protocol") == "All" && isPublic(front) {
		return arm.Badf("HAPortsNotSupportedForPublicLoadBalancer", "Load balancing rule %s with protocol All is only supported on an internal load balancer.", arm.Text(r, "id"))
	}
	one, many := arm.Text(props, "backendAddressPool", "id"), arm.List(props, pools)
	if one != "" && len(many) == 0 {
		// The service shows both spellings, whichever was sent.
		props[pools] = arm.Refs([]string{one})
	}
	if one == "" && len(many) > 0 {
		props["backendAddressPool"] = arm.Doc{"id": arm.Text(many[0], "id")}
	}
	links := arm.List(props, pools)
	if probe := arm.Object(props, "probe"); arm.Text(probe, "id") != "" {
		links = append(links, probe)
	}
	return arm.Each(links, func(l arm.Doc) *arm.Error {
		_, err := b.find(r, arm.Text(l, "id"))
		return err
	})
}

// use is a frontend port that is taken.
type use struct {
	by       string
	protocol string
	from, to int
}

func (u use) hits(v use) bool {
	return (u.protocol == v.protocol || u.protocol == "All" || v.protocol == "All") && u.from <= v.to && v.from <= u.to
}

// frontendPorts wants every port of a frontend used once, whether by load
// balancing rules, NAT rules or NAT pools.
func (b *balancer) frontendPorts() *arm.Error {
	taken := map[string]map[int][]use{}
	for _, c := range []string{rules, natRules, natPools} {
		for _, r := range b.list(c) {
			props := arm.Object(r, "properties")
			u := use{by: arm.Text(r, "id"), protocol: arm.Text(props, "protocol")}
			u.from, u.to = portRange(props)
			front := arm.Key(arm.Text(props, "frontendIPConfiguration", "id"))
			if taken[front] == nil {
				taken[front] = map[int][]use{}
			}
			if other := findPortClash(taken[front], u); other != "" {
				return arm.Badf("RulesUseSameFrontendPortProtocolAndIPConfig", "Rules %s and %s use the same frontend port %d and protocol %s with the same frontend IP configuration %s.", other, u.by, u.from, u.protocol, front)
			}
			// Single ports are found by number; ranges are kept apart under -1.
			slot := u.from
			if u.from != u.to {
				slot = -1
			}
			taken[front][slot] = append(taken[front][slot], u)
		}
	}
	return nil
}

func findPortClash(taken map[int][]use, u use) string {
	if u.from != u.to {
		for _, list := range taken {
			for _, v := range list {
				if u.hits(v) {
					return v.by
				}
			}
		}
		return ""
	}
	for _, slot := range []int{u.from, -1} {
		for _, v := range taken[slot] {
			if u.hits(v) {
				return v.by
			}
		}
	}
	return ""
}

// portRange is the frontend ports of a rule; a rule for all ports covers the whole range.
func portRange(props arm.Doc) (from, to int) {
	if from, ok := arm.Number(props, "frontendPortRangeStart"); ok {
		to, _ := arm.Number(props, "frontendPortRangeEnd")
		return from, to
	}
	port, _ := arm.Number(props, "frontendPort")
	if arm.Text(props, "protocol") == "All" {
		return 0, maxPort
	}
	return port, port
}

// backendPorts lets a backend port of a pool serve one rule only, unless
// floating IP tells the rules apart by their frontends.
func (b *balancer) backendPorts() *arm.Error {
	seen := map[string]string{}
	for _, r := range b.list(rules) {
		props := arm.Object(r, "properties")
		if arm.Flag(props, "enableFloatingIP") {
			continue
		}
		port, _ := arm.Number(props, "backendPort")
		protocol := arm.Text(props, "protocol")
		for _, p := range arm.List(props, pools) {
			pool := arm.Text(p, "id")
			key := arm.Key(pool) + "|" + protocol + "|" + strconv.Itoa(port)
			if other := seen[key]; other != "" {
				return arm.Badf("RulesUseSameBackendPortProtocolAndPool", "Load balancing rules %s and %s with floating IP disabled use the same protocol %s and backend port %d, and must not be used with the same backend address pool %s.",
					other, arm.Text(r, "id"), protocol, port, pool)
			}
			seen[key] = arm.Text(r, "id")
		}
	}
	return nil
}

// nat checks inbound NAT rules and pools.
func (b *balancer) nat() *arm.Error {
	return arm.Each(append(b.list(natRules), b.list(natPools)...), func(r arm.Doc) *arm.Error {
		id, props := arm.Text(r, "id"), arm.Object(r, "properties")
		if err := checkFields(id, props, choiceField("protocol", "Tcp", "Tcp", "Udp", "All")); err != nil {
			return err
		}
		if _, err := b.find(r, arm.Text(props, "frontendIPConfiguration", "id")); err != nil {
			return err
		}
		if err := checkFields(id, props, idleField(maxNatIdle), numberField("backendPort", 0, 1, maxPort, "InboundNatRuleBackendPortInvalid")); err != nil {
			return err
		}
		if from, to := portRange(props); from < 1 || to < from || to > maxFrontendPort {
			return arm.Badf("InboundNatRuleFrontendPortInvalid", "Inbound NAT rule %s has frontend ports %d to %d, which is no range within 1 and %d.", id, from, to, maxFrontendPort)
		}
		return nil
	})
}

// outbound checks outbound rules and what load balancing rules on the same frontend must say.
func (b *balancer) outbound() *arm.Error {
	used := map[string]string{}
	for _, r := range b.list(outboundRules) {
		id, props := arm.Text(r, "id"), arm.Object(r, "properties")
		if err := b.outboundFields(id, props); err != nil {
			return err
		}
		if _, err := b.find(r, arm.Text(props, "backendAddressPool", "id")); err != nil {
			return err
		}
		for _, l := range arm.List(props, frontends) {
			f, err := b.find(r, arm.Text(l, "id"))
			if err != nil {
				return err
			}
			if !isPublic(f) {
				return arm.Badf("OutboundRuleFrontendMustBePublic", "Outbound rule %s must reference frontend IP configurations with public IP addresses.", id)
			}
			key := arm.Key(arm.Text(f, "id"))
			if other := used[key]; other != "" {
				return arm.Badf("MoreThanOneOutboundRuleUsingSameFrontendIPConfigurationAndProtocolIsNotSupported", "It is not supported to have more than a single outbound rule using frontendIPConfiguration %s with same or overlapping protocol: %s, %s.", arm.Text(f, "id"), other, id)
			}
			used[key] = id
		}
	}
	for _, r := range b.list(rules) {
		props := arm.Object(r, "properties")
		rule := used[arm.Key(arm.Text(props, "frontendIPConfiguration", "id"))]
		if rule != "" && !arm.Flag(props, "disableOutboundSnat") {
			return arm.Badf("LoadBalancingRuleMustDisableSNATSinceSameFrontendIPConfigurationIsReferencedByOutboundRule", "Load balancing rule %s must disable SNAT (DisableOutboundSnat=true) since same frontend IP configuration is referenced by outbound rule %s.", arm.Text(r, "id"), rule)
		}
	}
	return nil
}

func (b *balancer) outboundFields(id string, props arm.Doc) *arm.Error {
	if err := checkFields(id, props, choiceField("protocol", "", "Tcp", "Udp", "All"), idleField(maxOutboundIdle)); err != nil {
		return err
	}
	if len(arm.List(props, frontends)) == 0 {
		return arm.Badf("OutboundRuleMustHaveFrontend", "Outbound rule %s must reference at least one frontend IP configuration.", id)
	}
	arm.Default(props, 0, "allocatedOutboundPorts")
	if n, ok := arm.Number(props, "allocatedOutboundPorts"); !ok || n < 0 || n > 64000 || n%8 != 0 {
		return arm.Badf("InvalidAllocatedOutboundPorts", "The allocated outbound ports %v of outbound rule %s must be a multiple of 8 between 0 and 64000.", props["allocatedOutboundPorts"], id)
	}
	return nil
}
