package model

import (
	"crypto/sha1" // #nosec G505 -- the names of existing backend services are made with it
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Names identify existing load balancers, so every byte is that of the official
// controllers. There are two schemes: a<uid> and its relatives, and "v2" names that
// begin with k8s2.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_loadbalancer_naming.go;
// kubernetes/ingress-gce:pkg/utils/namer/l4_namer.go.
const (
	lbNameLength   = 32
	maxName        = 63
	V2Prefix       = "k8s2"
	v2HashLength   = 8
	v2Fields       = 39 // characters of namespace and name
	subnetHash     = 6
	maxGroupName   = 62
	groupPrefix    = "k8s-ig"
	sharedCheck    = "l4-shared-hc"
	legacyNodeName = "node"

	SuffixIPv6     = "-ipv6"
	suffixFirewall = "-fw"
	suffixDeny     = "-deny"
	suffixDenyIPv6 = "-deny-ipv6"
	suffixHTTPHC   = "-http-hc"
	suffixHC       = "-hc"
)

// Key names: which of its names a resource of the Service has.
const (
	keyLegacy    = "legacy"
	keyV2        = "v2"
	keyV2IPv6    = "v2-ipv6"
	keyV2Whole   = "v2-ipv6-whole"
	keyLegacyTP  = "legacy-pool"
	keyOldNode   = "old"
	ruleIPv4     = "ipv4"     // a<uid>
	ruleIPv6     = "ipv6"     // a<uid>-ipv6
	ruleTCP      = "tcp"      // k8s2-tcp-...
	ruleUDP      = "udp"      // k8s2-udp-...
	ruleL3       = "l3"       // k8s2-l3-...
	ruleTCPIPv6  = "tcp-ipv6" // k8s2-tcp-...-ipv6
	ruleUDPIPv6  = "udp-ipv6" // k8s2-udp-...-ipv6
	ruleL3IPv6   = "l3-ipv6"  // k8s2-l3-...-ipv6
	leastHash    = 3          // characters of the hash that tell Services apart well enough
	hexHashOfSAs = 16
)

// Name is one name that a resource may have.
type Name struct {
	Key  stack.Key // of zonal kinds without a name: that follows from the zone
	Name string
	// Shared names are the cluster's: what has them is shared.
	Shared bool
	// Ambiguous names have lost the hash that tells Services apart, so that two
	// Services may have the same; only the description says whose it is.
	Ambiguous bool
	// Pattern: "*" in the name stands for six hex digits.
	Pattern bool
}

// LoadBalancerName is a<uid>: the name of rule, address, pool and backend service
// of the older kinds. Source: kubernetes/cloud-provider:cloud.go (DefaultLoadBalancerName).
func LoadBalancerName(uid string) string {
	name := "a" + strings.ReplaceAll(uid, "-", "")
	return name[:min(len(name), lbNameLength)]
}

// Names makes all names of one Service.
type Names struct {
	lb, u, h  string
	ns, svc   string
	clusterID string
}

// NamesOf are the names of a Service of a cluster.
func NamesOf(c Config, o stack.Owner) Names {
	u := shortHash(c.SystemUID, v2HashLength)
	return Names{
		lb: LoadBalancerName(o.UID), u: u, ns: o.Namespace, svc: o.Name,
		h:         shortHash(u+";"+o.Namespace+";"+o.Name, v2HashLength),
		clusterID: c.ClusterID,
	}
}

// ClusterHash is the part of names that tells clusters apart.
func (n Names) ClusterHash() string { return n.u }

// shortHash is the first n bytes of SHA-256, each as one character of 0-9a-z.
func shortHash(s string, n int) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	sum := sha256.Sum256([]byte(s))
	out := make([]byte, n)
	for i := range out {
		out[i] = digits[int(sum[i])%len(digits)]
	}
	return string(out)
}

// trimFields shortens fields evenly to limit characters in all: a longer field loses
// more.
func trimFields(limit int, fields ...string) string {
	total := 0
	for _, f := range fields {
		total += len(f)
	}
	if total > limit {
		excess, left := total-limit, limit
		lengths := make([]int, len(fields))
		for i, f := range fields {
			lengths[i] = max(0, len(f)-len(f)*excess/total-1)
			left -= lengths[i]
		}
		fields = slices.Clone(fields)
		for i, f := range fields {
			if left > 0 {
				lengths[i]++
				left--
			}
			fields[i] = f[:min(len(f), lengths[i])]
		}
	}
	return strings.Join(fields, "-")
}

// v2 is the name of the backend service, node firewall, own check and endpoint
// group; less shortens namespace and name so that a suffix fits behind the hash.
func (n Names) v2(less int) string {
	return strings.Join([]string{V2Prefix, n.u, trimFields(v2Fields-less, n.ns, n.svc), n.h}, "-")
}

// addSuffix appends a suffix, and shortens the name if the result would be too long.
func addSuffix(name, suffix string) string {
	return name[:min(len(name), maxName-len(suffix))] + suffix
}

// rule is the name of a forwarding rule, and of its address, by key name.
func (n Names) rule(key string) string {
	switch key {
	case ruleIPv4:
		return n.lb
	case ruleIPv6:
		return n.lb + SuffixIPv6
	}
	protocol, ipv6 := strings.CutSuffix(key, SuffixIPv6)
	name := strings.Join([]string{V2Prefix, protocol, n.u, trimFields(v2Fields-len(protocol)-1, n.ns, n.svc), n.h}, "-")
	if ipv6 {
		return addSuffix(name, SuffixIPv6)
	}
	return name
}

func ruleKeys() []string {
	return []string{ruleIPv4, ruleIPv6, ruleTCP, ruleUDP, ruleL3, ruleTCPIPv6, ruleUDPIPv6, ruleL3IPv6}
}

// neg is the name of the endpoint group in a subnet; "" is the cluster's.
func (n Names) neg(subnet string) string {
	if subnet == "" {
		return n.v2(0)
	}
	return n.negOf(subnetKey(subnet))
}

func (n Names) negOf(hash string) string {
	return strings.Join([]string{V2Prefix, n.u, trimFields(v2Fields-subnetHash-1, n.ns, n.svc), hash, n.h}, "-")
}

// subnetKey is the hash by which names tell subnets apart.
func subnetKey(subnet string) string {
	sum := sha256.Sum256([]byte(subnet))
	return hex.EncodeToString(sum[:])[:subnetHash]
}

// MatchName reports whether a name fits a pattern in which "*" stands for six hex
// digits, and returns those digits.
func MatchName(pattern, name string) (hash string, ok bool) {
	before, after, found := strings.Cut(pattern, "*")
	rest, begins := strings.CutPrefix(name, before)
	hash, ends := strings.CutSuffix(rest, after)
	if !found || !begins || !ends || len(hash) != subnetHash || strings.Trim(hash, "0123456789abcdef") != "" {
		return "", false
	}
	return hash, true
}

// legacyCheck is the name of the check of the older kinds that is shared.
func (n Names) legacyCheck() string { return "k8s-" + n.clusterID + "-" + legacyNodeName }

// v2Check is the name of the check of the newer kinds that is shared.
func (n Names) v2Check() string { return V2Prefix + "-" + n.u + "-" + sharedCheck }

// sharedBackend is the name of a backend service that internal Services share.
func (n Names) sharedBackend(protocol, affinity string) string {
	sum := sha1.Sum([]byte(affinity)) // #nosec G401 -- a name, not a secret
	return "k8s-" + n.clusterID + "-internal-" + strings.ToLower(protocol) + "-nmv1-" + hex.EncodeToString(sum[:])[:hexHashOfSAs]
}

// checkFirewallIPv6 is the name of the IPv6 firewall of an own check. With long
// names of namespace and Service it loses the hash, and then it is ambiguous.
func (n Names) checkFirewallIPv6() (name string, ambiguous bool) {
	const suffix = suffixFirewall + SuffixIPv6
	base := n.v2(0)
	return addSuffix(base, suffix), len(base)+len(suffix)-maxName > v2HashLength-leastHash
}

// checkFirewallIPv6Whole is the name in its place that keeps the hash.
func (n Names) checkFirewallIPv6Whole() string {
	const suffix = suffixFirewall + SuffixIPv6
	return n.v2(len(suffix)) + suffix
}

// OwnNames are all names that resources of the Service alone may have.
func OwnNames(c Config, o stack.Owner) []Name {
	n := NamesOf(c, o)
	var out []Name
	add := func(kind stack.Kind, key, name string) {
		out = append(out, Name{Key: stack.Key{Kind: kind, Name: key}, Name: name})
	}
	for _, key := range ruleKeys() {
		add(KindRules, key, n.rule(key))
		add(KindAddress, key, n.rule(key))
	}
	add(KindPool, "", n.lb)
	add(KindBackend, keyLegacy, n.lb)
	add(KindBackend, keyV2, n.v2(0))
	add(KindHTTPCheck, keyLegacy, n.lb)
	add(KindCheck, keyLegacy, n.lb)
	add(KindCheck, keyV2, n.v2(0))
	add(KindRegionalCheck, keyV2, n.v2(0))
	add(KindNEG, "", n.v2(0))
	out = append(out, Name{Key: stack.Key{Kind: KindNEG}, Name: n.negOf("*"), Pattern: true})
	add(KindFirewall, keyLegacy, "k8s-fw-"+n.lb)
	add(KindFirewall, keyOldNode, n.lb)
	add(KindFirewall, keyV2, n.v2(0))
	add(KindFirewall, keyV2IPv6, addSuffix(n.v2(0), SuffixIPv6))
	add(KindDeny, keyLegacy, "k8s-fw-"+n.lb+suffixDeny)
	add(KindDeny, keyV2, n.v2(len(suffixDeny))+suffixDeny)
	add(KindDeny, keyV2IPv6, n.v2(len(suffixDenyIPv6))+suffixDenyIPv6)
	add(KindCheckFirewall, keyLegacyTP, "k8s-"+n.lb+suffixHTTPHC)
	add(KindCheckFirewall, keyLegacy, n.lb+suffixHC)
	add(KindCheckFirewall, keyV2, addSuffix(n.v2(0), suffixFirewall))
	name, ambiguous := n.checkFirewallIPv6()
	out = append(out, Name{Key: stack.Key{Kind: KindCheckFirewall, Name: keyV2IPv6}, Name: name, Ambiguous: ambiguous})
	if ambiguous {
		add(KindCheckFirewall, keyV2Whole, n.checkFirewallIPv6Whole())
	}
	if o.UID == "" { // what was left of a Service may not tell it; then no name is made of it
		out = slices.DeleteFunc(out, Name.OfUID)
	}
	return out
}

// OfUID reports whether the name is made of the Service's UID, and of nothing that would
// identify the cluster. The others are made of namespace, name and cluster.
func (n Name) OfUID() bool {
	return n.Key.Kind == KindPool || slices.Contains([]string{ruleIPv4, ruleIPv6, keyLegacy, keyOldNode, keyLegacyTP}, n.Key.Name)
}

// SharedNames are the names of what the Services of the cluster share. The key
// name is the name, so that all of them mean the same resource; instance groups
// have their zone before it.
func SharedNames(c Config) []Name {
	n := NamesOf(c, stack.Owner{})
	var out []Name
	add := func(kind stack.Kind, name string) {
		out = append(out, Name{Key: stack.Key{Kind: kind, Name: name}, Name: name, Shared: true})
	}
	for _, protocol := range []string{"tcp", "udp"} {
		for _, affinity := range []string{"None", "ClientIP"} {
			add(KindBackend, n.sharedBackend(protocol, affinity))
		}
	}
	add(KindHTTPCheck, n.legacyCheck())
	add(KindCheck, n.legacyCheck())
	add(KindCheck, n.v2Check())
	add(KindRegionalCheck, n.v2Check())
	add(KindCheckFirewall, n.legacyCheck()+suffixHTTPHC)
	add(KindCheckFirewall, n.legacyCheck()+suffixHC)
	add(KindCheckFirewall, n.v2Check()+suffixFirewall)
	add(KindCheckFirewall, n.v2Check()+suffixFirewall+SuffixIPv6)
	for _, name := range sortedSet([]string{c.GroupName(InternalIG), c.GroupName(NetLB)}) {
		out = append(out, Name{Key: stack.Key{Kind: KindGroup}, Name: name, Shared: true})
	}
	return out
}

// checkFirewalls are the shared firewalls of a check: those of FirewallChecks that name it.
func checkFirewalls(check stack.Key) []stack.Key {
	var out []stack.Key
	for _, suffix := range []string{suffixHTTPHC, suffixHC, suffixFirewall, suffixFirewall + SuffixIPv6} {
		key := stack.Key{Kind: KindCheckFirewall, Name: check.Name + suffix}
		if slices.Contains(FirewallChecks(key.Name), check) {
			out = append(out, key)
		}
	}
	return out
}

// FirewallChecks are the checks that a shared firewall lets through: it is in use
// as long as one of them exists, in either scope.
func FirewallChecks(firewall string) []stack.Key {
	if check, ok := strings.CutSuffix(firewall, suffixHTTPHC); ok {
		return []stack.Key{{Kind: KindHTTPCheck, Name: check}}
	}
	check, ok := strings.CutSuffix(strings.TrimSuffix(firewall, SuffixIPv6), suffixFirewall)
	if !ok {
		check = strings.TrimSuffix(firewall, suffixHC)
	}
	return []stack.Key{{Kind: KindCheck, Name: check}, {Kind: KindRegionalCheck, Name: check}}
}

// RuleKind is the kind of a forwarding rule by its scheme.
func RuleKind(scheme string) stack.Kind {
	if scheme == SchemeInternal {
		return KindInternalRule
	}
	return KindExternalRule
}

// GroupKey names an instance group, which all Services share.
func GroupKey(zone, name string) stack.Key {
	return stack.Key{Kind: KindGroup, Name: zone + "/" + name}
}

// KeyAt returns the key of the instance or endpoint group with a path, if the name is one of
// such a group and it has that name.
func (n Name) KeyAt(path string) (stack.Key, bool) {
	collection, parts := "networkEndpointGroups", strings.Split(path, "/")
	if n.Key.Kind == KindGroup {
		collection = "instanceGroups"
	}
	if len(parts) != 4 || parts[0] != "zones" || parts[2] != collection {
		return stack.Key{}, false
	}
	zone, name := parts[1], parts[3]
	switch {
	case n.Key.Kind == KindGroup:
		return GroupKey(zone, name), name == n.Name
	case n.Pattern:
		hash, fits := MatchName(n.Name, name)
		return NegKey(zone, hash), fits
	}
	return NegKey(zone, ""), name == n.Name
}

// NegKey names an endpoint group of the Service: by zone, and by the hash in its
// name where that is another subnet's than the cluster's.
func NegKey(zone, hash string) stack.Key {
	if hash != "" {
		zone += "/" + hash
	}
	return stack.Key{Kind: KindNEG, Name: zone}
}

// PathOf is what follows the project in a URL or path of a resource: its ID.
func PathOf(url string) string {
	rest := ProjectPathOf(url)
	if after, ok := strings.CutPrefix(rest, "projects/"); ok {
		if _, path, ok := strings.Cut(after, "/"); ok {
			return path
		}
	}
	return rest
}

// ProjectPathOf is a URL without host and version: "projects/p/global/networks/n".
// Resources are compared by it, because servers answer with other hosts than
// clients send.
func ProjectPathOf(url string) string {
	if i := strings.Index(url, "projects/"); i >= 0 && (i == 0 || url[i-1] == '/') {
		return url[i:]
	}
	return strings.TrimPrefix(url, "/")
}

// LastOf is the last element of a path: the name of a resource.
func LastOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// RuleSlot is the place of a forwarding rule: its name, whatever its scheme.
func RuleSlot(name string) string { return "forwarding rule " + name }
