package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berth-lb/berth/annotations"
)

// Bounds of flexible shapes, in Mbps; what is beyond counts as the bound.
// Source: oracle/oci-cloud-controller-manager:pkg/cloudprovider/providers/oci/load_balancer_util.go.
const (
	leastBandwidth = 10
	mostBandwidth  = 8192
	flexible       = "flexible"
	defaultShape   = "100Mbps"
)

// Keys of the shape.
var (
	shapeKey = textKey(annotations.NamesThe(annotations.ThingFlavor), oldPrefix+"shape", LB, groupShape, "Shape of the load balancer: its bandwidth.", "flexible, or the name of a fixed shape", flexible, "100Mbps; an existing flexible load balancer keeps its shape", annotations.InPlace)
	leastKey = annotations.Needing(bandwidthKey("shape-flex-min", "Least bandwidth of a flexible load balancer, in Mbps.", "10"), needsFlexible())
	mostKey  = annotations.Needing(bandwidthKey("shape-flex-max", "Greatest bandwidth of a flexible load balancer, in Mbps.", "100"), needsFlexible())
)

// needsFlexible is the need of keys of flexible shapes.
func needsFlexible() annotations.Need {
	return annotations.Need{shapeKey.Is(flexible), annotations.Found("a load balancer that has a flexible shape already")}
}

// ShapeAdvice says how to ask for a flexible shape.
func ShapeAdvice() string {
	return fmt.Sprintf("%s: %s with %s and %s", shapeKey.Name, flexible, leastKey.Name, mostKey.Name)
}

// ShapeKey is the annotation that names the shape.
func ShapeKey() string { return shapeKey.Name }

func shapeKeys() []annotations.Declaration {
	return []annotations.Declaration{shapeKey, leastKey, mostKey}
}

func bandwidthKey(name, doc, example string) *annotations.Key[int] {
	k := numberKey(oldPrefix+name, LB, groupShape, doc, example, annotations.Custom("bandwidth", "a whole number of Mbps, with or without the unit", parseBandwidth), 0, "that of the existing flexible load balancer")
	k.Names = annotations.NamesNothing()
	k.Forms[0].Doc = fmt.Sprintf("Less than %d counts as %d, more than %d as %d.", leastBandwidth, leastBandwidth, mostBandwidth, mostBandwidth)
	return k
}

func parseBandwidth(raw string) (int, error) {
	digits := strings.TrimSpace(strings.TrimSuffix(strings.ToLower(strings.TrimSpace(raw)), "mbps"))
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("is no whole number of Mbps")
	}
	return min(max(int(n), leastBandwidth), mostBandwidth), nil
}

// Protocols of listeners.
const (
	protocolTCP    = "TCP"
	protocolHTTP   = "HTTP"
	protocolGRPC   = "GRPC"
	protocolUDP    = "UDP"
	protocolTCPUDP = "TCP_AND_UDP"
)

// Keys of listeners and backend sets.
var (
	protocolKey = &annotations.Key[string]{
		Name: oldPrefix + "backend-protocol", Group: groupTraffic, Example: protocolHTTP,
		Doc: "Protocol of all listeners.",
		Forms: []annotations.Form[string]{{
			Kinds: kindList(LB), Type: annotations.EnumFold(protocolTCP, protocolHTTP, protocolGRPC), Default: protocolTCP, Empty: annotations.EmptyAbsent, Source: source,
			Doc: "GRPC needs TLS on every port.",
		}},
	}
	idleKey  = numberKey(oldPrefix+"connection-idle-timeout", LB, groupTraffic, "How long a connection may be silent, in seconds.", "600", annotations.IntRange(1, longestIdle).In("seconds"), 0, "300 for TCP, 60 for HTTP and GRPC")
	proxyKey = numberKey(oldPrefix+"connection-proxy-protocol-version", LB, groupTraffic, "Tells backends the client's address by this version of the PROXY protocol.", "2", annotations.IntOneOf(1, 2), 0, "none")
	ppv2Key  = annotations.Flag(netPrefix+"is-ppv2-enabled", groupTraffic, "Tells backends the client's address by version 2 of the PROXY protocol.", annotations.Form[bool]{
		Kinds: kindList(NLB), Type: annotations.BoolWords([]string{"true"}, []string{"false"}, true), Bad: annotations.AsAbsent, DefaultDoc: "false", Source: source,
	})
	policyKey    = choiceKey(prefix+"loadbalancer-policy", LB, groupTraffic, "How backends are chosen.", "ROUND_ROBIN", "ROUND_ROBIN", "LEAST_CONNECTIONS", "IP_HASH")
	netPolicyKey = choiceKey(netPrefix+"backend-policy", NLB, groupTraffic, "Of what connections have in common those go to the same backend.", "FIVE_TUPLE", "FIVE_TUPLE", "THREE_TUPLE", "TWO_TUPLE")
	preserveKey  = annotations.Needing(flagKey(netPrefix+"is-preserve-source", NLB, groupTraffic, "Keeps clients' addresses on the way to the nodes; only with externalTrafficPolicy Local.", "true with externalTrafficPolicy Local, else false", annotations.InPlace), annotations.Need{annotations.FieldIs(annotations.FieldTrafficPolicy, "Local")})
	ruleSetsKey  = annotations.LimitingUnless(&annotations.Key[RuleSets]{
		Name: prefix + "oci-load-balancer-rule-sets", Names: annotations.NamesNothing(), Group: groupTraffic, Example: `{"headers": {"items": [{"action": "ADD_HTTP_REQUEST_HEADER", "header": "x-from", "value": "lb"}]}}`,
		Doc: "Rule sets of the load balancer, which hold for all listeners.",
		Forms: []annotations.Form[RuleSets]{{
			Kinds: kindList(LB), Type: annotations.Custom("rule sets", "a JSON object of rule sets by name, each {\"items\": [...]} in the words of the API", parseRuleSets), DefaultDoc: "rule sets are left alone", Removal: annotations.Stays, Source: source,
			Doc: "Present and empty it removes all rule sets.",
		}},
	}, admitsAll)
)

// longestIdle is the greatest idle timeout, in seconds.
// Source: Load Balancer API reference, ConnectionConfiguration.
const longestIdle = 7200

func trafficKeys() []annotations.Declaration {
	return []annotations.Declaration{protocolKey, idleKey, proxyKey, ppv2Key, policyKey, netPolicyKey, preserveKey, ruleSetsKey}
}

// Keys of health checks. The API takes intervals of a network load balancer from ten
// seconds. Source: load_balancer_spec.go (getHealthCheckInterval).
var (
	retriesKey     = healthNumber(oldPrefix, LB, "retries", "Checks that must fail, or succeed again, until a backend counts as down or up.", "5", annotations.IntAtLeast(1), defaultRetries)
	intervalKey    = healthNumber(oldPrefix, LB, "interval", "Milliseconds between two checks.", "15000", annotations.IntRange(1000, 1800000).In("milliseconds"), defaultInterval)
	timeoutKey     = healthNumber(oldPrefix, LB, "timeout", "Milliseconds that a check may take.", "5000", annotations.IntAtLeast(1).In("milliseconds"), defaultTimeout)
	netRetriesKey  = healthNumber(netPrefix, NLB, "retries", "Checks that must fail, or succeed again, until a backend counts as down or up.", "5", annotations.IntAtLeast(1), defaultRetries)
	netIntervalKey = healthNumber(netPrefix, NLB, "interval", "Milliseconds between two checks.", "15000", annotations.IntRange(10000, 1800000).In("milliseconds"), defaultInterval)
	netTimeoutKey  = healthNumber(netPrefix, NLB, "timeout", "Milliseconds that a check may take.", "5000", annotations.IntAtLeast(1).In("milliseconds"), defaultTimeout)
)

const (
	defaultRetries  = 3
	defaultInterval = 10000
	defaultTimeout  = 3000
)

func healthNumber(prefix, kind, name, doc, example string, t annotations.Type[int], standard int) *annotations.Key[int] {
	return numberKey(prefix+"health-check-"+name, kind, groupHealth, doc, example, t, standard, "")
}

func healthKeys() []annotations.Declaration {
	return []annotations.Declaration{retriesKey, intervalKey, timeoutKey, netRetriesKey, netIntervalKey, netTimeoutKey}
}

// Ways to keep security rules.
const (
	modeAll      = "All"
	modeFrontend = "Frontend"
	modeNone     = "None"
	modeGroup    = "NSG"

	ruleModeLists    = "SL-All"
	ruleModeFrontend = "SL-Frontend"
)

// Keys of security rules.
var (
	listModeKey = annotations.Limiting(&annotations.Key[string]{
		Name: oldPrefix + "security-list-management-mode", Group: groupGuard, Example: modeNone,
		Doc: "Which security lists get rules for the Service: of the load balancer's and the nodes' subnets, of the load balancer's, or none.",
		Forms: []annotations.Form[string]{{
			Kinds: kindList(LB), Type: annotations.Enum(modeAll, modeFrontend, modeNone), Or: []string{"loadBalancer.securityListManagementMode"}, Empty: annotations.EmptyAbsent, DefaultDoc: modeAll, Fallback: modeAll, Bad: annotations.UseFallback, Source: source,
		}},
	}, modeAll, modeFrontend)
	netListModeKey = annotations.Limiting(choiceKey(netPrefix+"security-list-management-mode", NLB, groupGuard, "Which security lists get rules for the Service: of the load balancer's and the nodes' subnets, of the load balancer's, or none.", modeNone, modeAll, modeFrontend, modeNone), modeAll, modeFrontend)
	ruleModeKey    = annotations.Limiting(&annotations.Key[string]{
		Name: prefix + "security-rule-management-mode", Group: groupGuard, Example: modeGroup,
		Doc: "Where rules for the Service are kept: in security lists, in a network security group of its own, or nowhere.",
		Forms: []annotations.Form[string]{{
			Type: annotations.EnumFold(ruleModeLists, ruleModeFrontend, modeGroup, modeNone), DefaultDoc: "the security-list-management-mode", Source: source,
			Doc: "It wins over the security-list-management-mode.",
		}},
	}, ruleModeLists, ruleModeFrontend, modeGroup)
	backendGroupsKey = &annotations.Key[[]string]{
		Name: prefix + "oci-backend-network-security-group", Names: annotations.NamesThe(annotations.ThingSecurityGroup), Group: groupGuard, Example: exampleGroup,
		Doc: "Network security groups of the nodes, which get rules that let the load balancer in.",
		Forms: []annotations.Form[[]string]{{
			Type: annotations.ListWith(annotations.ListOptions{Unique: true}, groupID()), Source: source,
			Needs: []annotations.Need{{ruleModeKey.Is(modeGroup)}},
		}},
	}
)

func guardKeys() []annotations.Declaration {
	return []annotations.Declaration{listModeKey, netListModeKey, ruleModeKey, backendGroupsKey, annotations.SourceRanges(groupGuard, source)}
}

// Selector selects nodes by their labels.
type Selector struct {
	Text string // as the user wrote it
	Keys []string
	keep labels.Selector
}

// Matches reports whether labels are selected; the zero value selects all.
func (s Selector) Matches(of map[string]string) bool {
	return s.keep == nil || s.keep.Matches(labels.Set(of))
}

func parseSelector(raw string) (Selector, error) {
	keep, err := labels.Parse(raw)
	if err != nil {
		return Selector{}, fmt.Errorf("is no label selector: %w", err)
	}
	s := Selector{Text: keep.String(), keep: keep}
	requirements, _ := keep.Requirements()
	for _, r := range requirements {
		s.Keys = append(s.Keys, r.Key())
	}
	slices.Sort(s.Keys)
	return s, nil
}

// checkPreserve: clients' addresses are kept only where the nodes answer them.
func checkPreserve(kind string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	if preserve, _, said := preserveKey.Lookup(bag); kind != NLB || !said || !preserve || !ppv2Key.Get(bag) {
		return nil
	}
	return annotations.Problems{preserveKey.Warning(bag, "keeps the clients' addresses, so that "+ppv2Key.Name+" tells nothing new", "one of the two")}
}

// checkFlexible: bandwidths are those of flexible shapes.
func checkFlexible(_ string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	shape, _, said := shapeKey.Lookup(bag)
	if !said || strings.EqualFold(shape, flexible) {
		return nil
	}
	var out annotations.Problems
	for _, key := range []*annotations.Key[int]{leastKey, mostKey} {
		if _, _, said := key.Lookup(bag); said {
			out = append(out, key.Warning(bag, "has no effect: the shape "+shape+" has its bandwidth", "no value, or the shape "+flexible))
		}
	}
	return out
}
