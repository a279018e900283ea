package model

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
)

// source is where the official controller reads keys.
const source = "kubernetes/cloud-provider-openstack:pkg/openstack/loadbalancer.go"

// Headings of the reference page.
const (
	groupPlace   = "Address and place"
	groupFloat   = "Floating IP"
	groupTraffic = "Listeners and pools"
	groupHealth  = "Health checks"
	groupShare   = "Sharing a load balancer"
	groupStatus  = "Status"
	groupObjects = "On other objects"
)

const prefix = "loadbalancer.openstack.org/"

// Annotations is the set of all keys that the official controller reads.
func Annotations() *annotations.Set {
	set, _ := declareAnnotations() // a set at fault says so on every Service
	return set
}

func declareAnnotations() (*annotations.Set, error) {
	return annotations.Collect("openstack", []string{prefix, "service.beta.kubernetes.io/openstack-"}, []annotations.Check{checkForwarded, checkTimes},
		placeKeys(), floatKeys(), trafficKeys(), healthKeys(), shareKeys(), objectKeys())
}

// textKey declares a key with any text.
func textKey(names annotations.Names, name, group, doc, legal, example, fallback string, change annotations.Change) *annotations.Key[string] {
	return annotations.Naming(annotations.Text(prefix+name, group, doc, example, annotations.Form[string]{
		Type: annotations.String().Legally(legal), DefaultDoc: fallback, Change: change, Source: source,
	}), names)
}

// numberKey declares a key with an integer. The official controller ignores an empty
// value.
func numberKey(name, group, doc, example string, lowest, highest, standard int) *annotations.Key[int] {
	return annotations.Number(prefix+name, group, doc, example, annotations.Form[int]{
		Type: annotations.IntRange(lowest, highest), Default: standard, Empty: annotations.EmptyAbsent, Source: source,
	})
}

// flagKey declares a key that is true or false, in these words alone.
func flagKey(name, group, doc string, change annotations.Change) *annotations.Key[bool] {
	return annotations.Flag(name, group, doc, annotations.Form[bool]{
		Type: annotations.BoolWords([]string{"true"}, []string{"false"}, false), Change: change, Bad: annotations.AsAbsent, Source: source,
	})
}

// Names of settings that Services depend on.
const (
	settingInternal = "internal-lb"
	settingMonitor  = "create-monitor"
)

// Settings are the values of the configuration that annotations depend on.
func Settings(c Config) map[string]string {
	return map[string]string{settingInternal: strconv.FormatBool(c.Internal), settingMonitor: strconv.FormatBool(c.Monitor)}
}

// onFloatingIP is the need of keys of the floating IP.
func onFloatingIP() annotations.Need {
	return annotations.Need{annotations.Neither("a floating IP, which load balancers with an internal or an IPv6 address do not have",
		internalKey.Is(true), annotations.Setting(settingInternal, "true"), annotations.FieldIs(annotations.FieldFirstFamily, "IPv6"))}
}

// onMonitor is the need of keys of the health check.
func onMonitor() annotations.Need {
	return annotations.Need{monitorKey.Is(true), annotations.Both(annotations.Setting(settingMonitor, "true"), annotations.Neither(monitorKey.Name+" unset", monitorKey.IsSet()))}
}

// longestTimeout is the greatest timeout of a listener, in milliseconds.
// Source: Octavia API reference.
const longestTimeout = 2073600000

// Keys of the address and its place.
var (
	internalKey = annotations.Exposing(flagKey("service.beta.kubernetes.io/openstack-internal-load-balancer", groupPlace,
		"Gives the load balancer no floating IP: clients reach it at its address in the network. With internal-lb of the configuration no Service has one.", annotations.Brief), annotations.ToInternet)
	classKey   = textKey(annotations.NamesThe(annotations.ThingSection), "class", groupPlace, "Names a section LoadBalancerClass of the configuration, whose networks and subnets count.", "the name of a section LoadBalancerClass", "public", "none", annotations.IgnoredAfterCreation)
	portKey    = textKey(annotations.NamesThe(annotations.ThingAddress), "port-id", groupPlace, "Uses an existing port for the address.", "the id of a port", "0e5a5b3c-5b0c-4c66-8e5c-9a61b3a1c1d2", "none", annotations.IgnoredAfterCreation)
	subnetKey  = annotations.Configured(textKey(annotations.NamesThe(annotations.ThingSubnet), "subnet-id", groupPlace, "Subnet that the address is from.", "the id of a subnet", "a3a1c1d2-5b0c-4c66-8e5c-0e5a5b3c9a61", "the subnet of the first node", annotations.IgnoredAfterCreation), annotations.EmptyAbsent, "LoadBalancerClass subnet-id", "subnet-id")
	networkKey = annotations.Configured(textKey(annotations.NamesThe(annotations.ThingSubnet), "network-id", groupPlace, "Network that the address is from.", "the id of a network", "c66a3a1c-5b0c-4c66-8e5c-0e5a5b3c9a61", "none", annotations.IgnoredAfterCreation), annotations.EmptyAbsent, "LoadBalancerClass network-id", "network-id")
	flavorKey  = annotations.Configured(textKey(annotations.NamesThe(annotations.ThingFlavor), "flavor-id", groupPlace, "Flavor of the load balancer.", "the id of a flavor", "5b0c4c66-8e5c-4c66-8e5c-0e5a5b3c9a61", "none", annotations.IgnoredAfterCreation), annotations.EmptyParsed, "flavor-id")
	zoneKey    = annotations.Configured(textKey(annotations.NamesThe(annotations.ThingZone), "availability-zone", groupPlace, "Availability zone of the load balancer.", "the name of an availability zone", "az-1", "none", annotations.IgnoredAfterCreation), annotations.EmptyParsed, "availability-zone")
)

func placeKeys() []annotations.Declaration {
	return []annotations.Declaration{internalKey, classKey, portKey, subnetKey, networkKey, flavorKey, zoneKey}
}

// Keys of the floating IP.
var (
	floatingNetworkKey = annotations.Configured(annotations.Needing(textKey(annotations.NamesThe(annotations.ThingSubnet), "floating-network-id", groupFloat, "External network that the floating IP is from.", "the id of an external network", "dd6192dc-16d5-01da-8c44-0c283638fda1", "the first external network", annotations.IgnoredAfterCreation), onFloatingIP()), annotations.EmptyParsed, "floating-network-id")
	floatingSubnetKey  = annotations.Configured(annotations.Needing(textKey(annotations.NamesThe(annotations.ThingSubnet), "floating-subnet-id", groupFloat, "Subnet that the floating IP is from.", "the id of a subnet of the external network", "a3a1c1d2-5b0c-4c66-8e5c-0e5a5b3c9a61", "none", annotations.IgnoredAfterCreation), onFloatingIP()), annotations.EmptyAbsent, "floating-subnet-id")
	floatingNameKey    = annotations.Configured(annotations.Needing(textKey(annotations.NamesThe(annotations.ThingSubnet), "floating-subnet", groupFloat, "Subnets of the floating IP, by a pattern of their names: matching ones are tried in order.", `a glob such as "public-*", "~" and a regular expression, or either after "!"`, "public-*", "none", annotations.IgnoredAfterCreation), onFloatingIP()), annotations.EmptyAbsent, "floating-subnet")
	floatingTagsKey    = annotations.Configured(annotations.Needing(textKey(annotations.NamesThe(annotations.ThingSubnet), "floating-subnet-tags", groupFloat, "Subnets that the floating IP is from, by their tags.", `tags separated by commas; "&" before the list means all of them, "!" none`, "internet", "none", annotations.IgnoredAfterCreation), onFloatingIP()), annotations.EmptyAbsent, "floating-subnet-tags")
	keepKey            = &annotations.Key[bool]{
		Name: prefix + "keep-floatingip", Group: groupFloat, Example: "true", OnDelete: true,
		Doc: "Keeps the floating IP when the Service is deleted or becomes internal.",
		Forms: []annotations.Form[bool]{{
			Type: annotations.BoolWords([]string{"true"}, []string{"false"}, false), Fallback: true, Source: source,
			Doc: "While a Service is deleted, a value that is neither true nor false keeps the floating IP.",
		}},
	}
)

func floatKeys() []annotations.Declaration {
	return []annotations.Declaration{floatingNetworkKey, floatingSubnetKey, floatingNameKey, floatingTagsKey, keepKey}
}

// Keys of listeners and pools.
var (
	limitKey = numberKey("connection-limit", groupTraffic, "How many connections each listener takes at a time; -1 is no limit.", "10000", -1, 1<<31-1, -1)
	proxyKey = &annotations.Key[string]{
		Name: prefix + "proxy-protocol", Group: groupTraffic, Example: "v2",
		Doc: "Tells backends the client's address by the PROXY protocol.",
		Forms: []annotations.Form[string]{{
			Type: annotations.Enum("true", "v1", "v2", "false"), Default: "false", Change: annotations.Brief, Bad: annotations.AsAbsent, Source: source,
			Doc: "true is v1. A new pool replaces the old one without a gap.",
		}},
	}
	forwardedKey = flagKey(prefix+"x-forwarded-for", groupTraffic,
		"Makes all listeners speak HTTP, and tells backends the client's address in the header X-Forwarded-For.", annotations.Brief)
	methodKey = &annotations.Key[string]{
		Name: prefix + "lb-method", Group: groupTraffic, Example: "LEAST_CONNECTIONS",
		Doc: "How backends are chosen.",
		Forms: []annotations.Form[string]{{
			Type: annotations.Enum("ROUND_ROBIN", "LEAST_CONNECTIONS", "SOURCE_IP", "SOURCE_IP_PORT"),
			Or:   []string{"lb-method"}, Empty: annotations.EmptyAbsent, Source: source,
			Doc: "The driver ovn has SOURCE_IP_PORT only.",
		}},
	}
	clientTimeoutKey  = numberKey("timeout-client-data", groupTraffic, "How long a client may be silent, in milliseconds.", "60000", 0, longestTimeout, 50000)
	connectTimeoutKey = numberKey("timeout-member-connect", groupTraffic, "How long a connection to a backend may take, in milliseconds.", "5000", 0, longestTimeout, 5000)
	memberTimeoutKey  = numberKey("timeout-member-data", groupTraffic, "How long a backend may be silent, in milliseconds.", "60000", 0, longestTimeout, 50000)
	inspectTimeoutKey = numberKey("timeout-tcp-inspect", groupTraffic, "How long to wait for more packets to inspect, in milliseconds.", "0", 0, longestTimeout, 0)
	tlsKey            = annotations.Configured(textKey(annotations.NamesThe(annotations.ThingCertificate), "default-tls-container-ref", groupTraffic, "Makes all listeners end TLS, with the certificate that is kept there.", "the address of a container or secret of Barbican", "https://barbican.example/v1/containers/5b0c4c66-8e5c-4c66-8e5c-0e5a5b3c9a61", "none", annotations.Brief), annotations.EmptyParsed, "default-tls-container-ref")
	selectorKey       = &annotations.Key[map[string]string]{
		Name: prefix + "node-selector", Names: annotations.NamesNothing(), Group: groupTraffic, Example: "role=ingress",
		Doc: "Labels that nodes must have to be backends.",
		Forms: []annotations.Form[map[string]string]{{
			Type: annotations.Custom("selector", "key=value or key, separated by commas", func(raw string) (map[string]string, error) { return labelsOf(raw), nil }),
			Or:   []string{"node-selector"}, Empty: annotations.EmptyParsed, Source: source,
			Doc: "Items are key=value, or a key alone that must exist. An empty value selects all nodes.",
		}},
	}
)

func trafficKeys() []annotations.Declaration {
	return []annotations.Declaration{limitKey, proxyKey, forwardedKey, methodKey, clientTimeoutKey, connectTimeoutKey, memberTimeoutKey, inspectTimeoutKey, tlsKey, selectorKey, annotations.SourceRanges(groupTraffic, source)}
}

// Keys of health checks.
var (
	monitorKey     = annotations.Configured(flagKey(prefix+"enable-health-monitor", groupHealth, "Gives every pool a health check.", annotations.InPlace), annotations.EmptyAbsent, settingMonitor)
	delayKey       = annotations.Configured(annotations.Needing(numberKey("health-monitor-delay", groupHealth, "Seconds between two checks.", "10", 1, 1<<31-1, 0), onMonitor()), annotations.EmptyAbsent, "monitor-delay")
	timeoutKey     = annotations.Configured(annotations.Needing(numberKey("health-monitor-timeout", groupHealth, "Seconds that a check may take.", "5", 1, 1<<31-1, 0), onMonitor()), annotations.EmptyAbsent, "monitor-timeout")
	retriesKey     = annotations.Configured(annotations.Needing(numberKey("health-monitor-max-retries", groupHealth, "Checks that must succeed until a backend counts as healthy.", "2", 1, 10, 0), onMonitor()), annotations.EmptyAbsent, "monitor-max-retries")
	retriesDownKey = annotations.Configured(annotations.Needing(numberKey("health-monitor-max-retries-down", groupHealth, "Checks that must fail until a backend counts as down.", "3", 1, 10, 0), onMonitor()), annotations.EmptyAbsent, "monitor-max-retries-down")
)

func healthKeys() []annotations.Declaration {
	return []annotations.Declaration{monitorKey, delayKey, timeoutKey, retriesKey, retriesDownKey}
}

// Keys of sharing, and of what the Service says of its load balancer.
var (
	memberSubnetKey = annotations.Configured(textKey(annotations.NamesThe(annotations.ThingSubnet), "member-subnet-id", groupTraffic, "Subnet in which backends are reached.", "the id of a subnet", "a3a1c1d2-5b0c-4c66-8e5c-0e5a5b3c9a61", "the subnet of the address", annotations.IgnoredAfterCreation), annotations.EmptyAbsent, "LoadBalancerClass member-subnet-id", "member-subnet-id")
	idKey           = &annotations.Key[string]{
		Name: prefix + "load-balancer-id", Names: annotations.NamesThe(annotations.ThingLoadBalancer), Group: groupShare, Writer: annotations.ByBoth, Example: "5b0c4c66-8e5c-4c66-8e5c-0e5a5b3c9a61", OnDelete: true,
		Doc: "Uses the load balancer of this id instead of one of its own; the controller writes the id of what it has made here.",
		Forms: []annotations.Form[string]{{
			Type: annotations.String().Legally("the id of a load balancer"), DefaultDoc: "written by the controller", Change: annotations.Replaced, Empty: annotations.EmptyAbsent, Source: source,
			Doc: "A load balancer of others takes max-shared-lb Services at most, and each port once.",
		}},
	}
	addressKey = &annotations.Key[string]{
		Name: prefix + "load-balancer-address", Group: groupStatus, Writer: annotations.ByController, Example: "203.0.113.7",
		Doc:   "Written by the controller: the address of the load balancer. It is never read.",
		Forms: []annotations.Form[string]{{Type: annotations.String(), DefaultDoc: "written by the controller", Source: source}},
	}
	hostnameKey = textKey(annotations.NamesThe(annotations.ThingHostname), "hostname", groupStatus, "Host name that the status shows instead of the address.", "a host name", "web.example.com", "none", annotations.InPlace)
)

func shareKeys() []annotations.Declaration {
	return []annotations.Declaration{memberSubnetKey, idKey, addressKey, hostnameKey}
}

func objectKeys() []annotations.Declaration {
	return []annotations.Declaration{annotations.ExcludeNode(groupObjects)}
}

// checkForwarded verifies that only one mechanism carries the client's address.
func checkForwarded(_ string, bag *annotations.Bag, ports []corev1.ServicePort) annotations.Problems {
	forwarded, proxy := forwardedKey.Get(bag), proxyKey.Get(bag)
	if forwarded && proxy != "false" && proxy != "" {
		return annotations.Problems{forwardedKey.Refusal(bag, "cannot go together with "+proxyKey.Name, "one of the two")}
	}
	var out annotations.Problems
	for _, p := range ports {
		if p.Protocol != corev1.ProtocolTCP && p.Protocol != "" && (forwarded || proxy != "false" && proxy != "" || tlsKey.Get(bag) != "") {
			out = append(out, annotations.Problem{Severity: annotations.Error, Key: "spec.ports", Value: string(p.Protocol), Message: "cannot be served together with HTTP, TLS or the PROXY protocol, which hold for all ports of a Service", Legal: "TCP"})
		}
	}
	return out
}

// checkTimes: a check of UDP needs some seconds. Source: Octavia API reference.
func checkTimes(_ string, bag *annotations.Bag, ports []corev1.ServicePort) annotations.Problems {
	delay, _, said := delayKey.Lookup(bag)
	for _, p := range ports {
		if said && delay < leastUDPDelay && p.Protocol == corev1.ProtocolUDP {
			return annotations.Problems{delayKey.Refusal(bag, "is too short for a check of UDP", "at least 3")}
		}
	}
	return nil
}

// leastUDPDelay is in seconds.
const leastUDPDelay = 3

// nodeSelector returns the labels that nodes must have.
func nodeSelector(in Input) map[string]string {
	return selectorKey.Or(in.Values, labelsOf(in.Config.NodeSelector))
}

// labelsOf reads key=value and key, separated by commas; a value may hold "=".
// Source: kubernetes/cloud-provider-openstack:pkg/util/util.go (StringToMap).
func labelsOf(list string) map[string]string {
	out := map[string]string{}
	for item := range strings.SplitSeq(list, ",") {
		if key, value, _ := strings.Cut(strings.TrimSpace(item), "="); key != "" {
			out[key] = value
		}
	}
	return out
}

// SelectNodes says which nodes may be backends.
func SelectNodes(in Input) nodeports.Filter { return nodeports.Filter{Selector: nodeSelector(in)} }
