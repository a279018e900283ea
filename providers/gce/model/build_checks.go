package model

import (
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// Health checks of the official controllers, in seconds and times.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_healthchecks.go;
// kubernetes/ingress-gce:pkg/l4/healthchecks.
const (
	checkInterval       = 8
	checkTimeout        = 1
	checkHealthy        = 1
	checkUnhealthy      = 3
	localCheckInterval  = 3
	localCheckUnhealthy = 2

	// Where checks come from in IPv6.
	checkRangeIPv6Internal = "2600:2d00:1:b029::/64"
	checkRangeIPv6External = "2600:1901:8001::/48"
)

// check wants a health check of nodes and the firewalls for it, and returns a
// reference to it. With policy Local it asks whether the node has endpoints of
// the Service, else whether its proxy works, which all Services share.
func (b *builder) check() stack.Ref {
	switch b.in.Kind {
	case TargetPool:
		return b.poolCheck()
	case InternalIG:
		return b.legacyCheck()
	}
	return b.newerCheck()
}

func (b *builder) checkPort() int32 {
	if b.local {
		return b.in.Service.Spec.HealthCheckNodePort
	}
	return nodeports.KubeProxyPort
}

// putCheck wants the check; slower values that another client has set stay.
func (b *builder) putCheck(k stack.Key, c Check) stack.Ref {
	c.Path, c.Port = nodeports.HealthPath, b.checkPort()
	c.Timeout, c.Healthy = checkTimeout, checkHealthy
	c.Interval, c.Unhealthy = checkInterval, checkUnhealthy
	if b.local && isNewer(b.in.Kind) {
		c.Interval, c.Unhealthy = localCheckInterval, localCheckUnhealthy
	}
	if found, ok := b.found(k); ok {
		if old, ok := found.Spec.(Check); ok {
			c.Interval, c.Timeout = max(c.Interval, old.Interval), max(c.Timeout, old.Timeout)
			c.Healthy, c.Unhealthy = max(c.Healthy, old.Healthy), max(c.Unhealthy, old.Unhealthy)
		}
	}
	if b.local {
		b.put(k, c)
	} else {
		b.share(k, c)
	}
	return stack.RefTo(k)
}

// poolCheck is a legacy HTTP check, the only sort that target pools take.
func (b *builder) poolCheck() stack.Ref {
	name, key := b.names.legacyCheck(), ""
	firewall := Firewall{Name: name + suffixHTTPHC, Description: clusterDescription(b.in.Config.ClusterID)}
	if b.local {
		name, key = b.names.lb, keyLegacy
		firewall = Firewall{Name: "k8s-" + name + suffixHTTPHC, Description: legacyIPDescription(b.in.Owner, b.ips[VersionIPv4].ip)}
		b.checkFirewall(keyLegacyTP, firewall, b.in.Config.CheckRanges)
	} else {
		key = name
		b.checkFirewall("", firewall, b.in.Config.CheckRanges)
	}
	return b.putCheck(stack.Key{Kind: KindHTTPCheck, Name: key}, Check{Name: name, Description: legacyDescription(name)})
}

func (b *builder) legacyCheck() stack.Ref {
	if b.local {
		b.checkFirewall(keyLegacy, Firewall{Name: b.names.lb + suffixHC}, b.in.Config.CheckRanges)
		return b.putCheck(stack.Key{Kind: KindCheck, Name: keyLegacy},
			Check{Name: b.names.lb, Description: legacyDescription(ServiceName(b.in.Owner))})
	}
	name := b.names.legacyCheck()
	b.checkFirewall("", Firewall{Name: name + suffixHC}, b.in.Config.CheckRanges)
	return b.putCheck(stack.Key{Kind: KindCheck, Name: name}, Check{Name: name})
}

// newerCheck is global for internal load balancers and regional for external
// ones; the shared firewalls serve both.
func (b *builder) newerCheck() stack.Ref {
	kind, sort, ranges := KindCheck, "ILB", []string{checkRangeIPv6Internal}
	if b.in.Kind == NetLB {
		kind, sort, ranges = KindRegionalCheck, "XLB", []string{checkRangeIPv6External}
	}
	if b.local {
		text := v2Description{ServiceName: ServiceName(b.in.Owner), APIVersion: apiVersionGA}.String()
		if b.hasIPv4() {
			b.checkFirewall(keyV2, Firewall{Name: addSuffix(b.names.v2(0), suffixFirewall), Description: text}, b.in.Config.CheckRanges)
		}
		if b.hasIPv6() {
			key, name := b.ownCheckFirewallIPv6()
			b.checkFirewall(key, Firewall{Name: name, Description: text}, ranges)
		}
		return b.putCheck(stack.Key{Kind: kind, Name: keyV2}, Check{Name: b.names.v2(0), Description: text})
	}
	name := b.names.v2Check()
	text := sharedDescription("")
	if b.hasIPv4() {
		b.checkFirewall("", Firewall{Name: name + suffixFirewall, Description: text}, b.in.Config.CheckRanges)
	}
	if b.hasIPv6() {
		both := sortedSet([]string{checkRangeIPv6Internal, checkRangeIPv6External})
		b.checkFirewall("", Firewall{Name: name + suffixFirewall + SuffixIPv6, Description: text}, both)
	}
	return b.putCheck(stack.Key{Kind: kind, Name: name}, Check{Name: name, Description: sharedDescription(sort)})
}

// ownCheckFirewallIPv6 is the official name, unless that has lost its hash: then another
// Service may have the same, and both would fight for one firewall. An existing firewall
// that names this Service stays.
func (b *builder) ownCheckFirewallIPv6() (key, name string) {
	name, ambiguous := b.names.checkFirewallIPv6()
	_, ours := b.found(stack.Key{Kind: KindCheckFirewall, Name: keyV2IPv6})
	if ambiguous && !ours {
		return keyV2Whole, b.names.checkFirewallIPv6Whole()
	}
	return keyV2IPv6, name
}

// checkFirewall lets the prober in; the empty key means one that is shared. It
// never names a destination: a shared one that names the IP of the Service which
// happened to make it may shut the probes of all others out.
func (b *builder) checkFirewall(key string, f Firewall, sources []string) {
	f.Network, f.Tags, f.Priority = b.facts.Network, b.tags, b.checkPriority()
	f.Sources = sources
	f.Allowed = []Allowed{{Protocol: "tcp", Ports: []string{decimal32(b.checkPort())}}}
	if key != "" {
		b.put(stack.Key{Kind: KindCheckFirewall, Name: key}, f)
		return
	}
	b.share(stack.Key{Kind: KindCheckFirewall, Name: f.Name}, f)
}

// checkPriority: probes go to the load balancer's IP, so where everything else to
// that IP is denied they have to be allowed more strongly. All Services of the
// newer kinds share firewalls, internal ones as well; the firewalls of InternalIG
// are its own. Source: kubernetes/ingress-gce:pkg/l4/healthchecks/healthchecksl4.go,
// kubernetes/cloud-provider-gcp:providers/gce/gce_loadbalancer_external.go.
func (b *builder) checkPriority() int64 {
	if b.in.Config.DenyFirewall && b.in.Kind != InternalIG {
		return allowOverPriority
	}
	return allowPriority
}
