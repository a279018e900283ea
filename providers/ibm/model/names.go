package model

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// longestName is how many characters a name may have.
// Source: VPC API reference, LoadBalancerPrototype.name.
const longestName = 63

// Prefixes of the names of load balancers. The official controller deletes load balancers
// with its prefix that belong to no Service without a class, so those of Services of a class
// have a prefix of their own.
// Source: IBM-Cloud/cloud-provider-ibm:ibm/ibm_loadbalancer.go (filterLoadBalancersFromServiceList),
// pkg/vpcctl/vpc_provider.go (GatherLoadBalancers).
const (
	officialPrefix = "kube-"
	ownPrefix      = "berth-"
)

// BalancerName returns the default name of the load balancer of a Service without a class.
// Source: IBM-Cloud/cloud-provider-ibm:pkg/vpcctl/vpc_provider.go (GenerateLoadBalancerName).
func BalancerName(cluster string, o stack.Owner) string { return nameOf(officialPrefix, cluster, o) }

// ClassBalancerName returns the default name of the load balancer of a Service with a class.
func ClassBalancerName(cluster string, o stack.Owner) string { return nameOf(ownPrefix, cluster, o) }

func nameOf(prefix, cluster string, o stack.Owner) string {
	name := prefix + cluster + "-" + strings.ReplaceAll(o.UID, "-", "")
	return name[:min(len(name), longestName)]
}

// OwnerOf returns the UID, without dashes, that the default name of a load balancer of a
// cluster tells; false: it is not a default name, or it was cut.
func OwnerOf(name, cluster string) (uid string, ok bool) {
	for _, prefix := range []string{officialPrefix, ownPrefix} {
		if rest, is := strings.CutPrefix(name, prefix+cluster+"-"); is && len(rest) == uidLength {
			return rest, true
		}
	}
	return "", false
}

// uidLength is the length of a UID without dashes.
const uidLength = 32

// poolName returns the name of the pool of a range of ports, which tells the ports that it
// joins. The range of a single port ends where it begins.
// Source: IBM-Cloud/cloud-provider-ibm:pkg/vpcctl/vpc_config.go (genLoadBalancerPoolName).
func poolName(protocol string, front PortRange, nodePort int32) string {
	ports := fmt.Sprint(front.First)
	if front.Last != front.First {
		ports = fmt.Sprintf("%dx%d", front.First, front.Last)
	}
	return fmt.Sprintf("%s-%s-%d", strings.ToLower(protocol), ports, nodePort)
}

// ParsePoolName returns the protocol and the port, or the first port of the range, of the
// name of a pool; false: it is not the name of a pool that a controller creates.
func ParsePoolName(name string) (protocol string, port int32, ok bool) {
	parts := strings.Split(name, "-")
	if len(parts) != 3 || parts[0] != "tcp" && parts[0] != "udp" {
		return "", 0, false
	}
	first, last, isRange := strings.Cut(parts[1], "x")
	numbers := []string{first, parts[2]}
	if isRange {
		numbers = append(numbers, last)
	}
	for _, text := range numbers {
		if _, err := strconv.ParseUint(text, 10, 16); err != nil {
			return "", 0, false
		}
	}
	front, _ := strconv.ParseUint(first, 10, 16) // parsed above
	return parts[0], int32(front), true
}

// WorkerGroup returns the name of the security group of a cluster's nodes.
// Source: ibm-cloud-docs/containers, vpc-security-group-reference.md ("Worker security group").
func WorkerGroup(cluster string) string { return officialPrefix + cluster }

// rulePrefix begins the names of the rules of a Service, which prove whose they are: a security group has
// one rule of a name.
func rulePrefix(o stack.Owner) string { return ownPrefix + strings.ReplaceAll(o.UID, "-", "") + "-" }

// RuleName returns the name of the rule of a Service with the key.
func RuleName(o stack.Owner, k stack.Key) string { return rulePrefix(o) + k.Name }

// ruleKey returns the key of the rule for a port of an address.
func ruleKey(port int32, address string) stack.Key {
	return stack.Key{Kind: KindRule, Name: fmt.Sprintf("%d-%s", port, strings.NewReplacer(".", "-", ":", "-").Replace(address))}
}

// RuleOwner returns the UID, without dashes, that the name of a rule tells; false: it is none of a Service.
func RuleOwner(name string) (uid string, ok bool) {
	uid, _, ok = strings.Cut(strings.TrimPrefix(name, ownPrefix), "-")
	return uid, ok && strings.HasPrefix(name, ownPrefix) && len(uid) == uidLength
}

// NoteOf returns the name of the note that keeps the id of a load balancer whose name the
// Service chose.
func NoteOf(o stack.Owner) string { return "berth-ibm-" + strings.ReplaceAll(o.UID, "-", "") }

// NoteID is the key of the id in a note.
const NoteID = "load-balancer"

// IsDefaultName reports whether a name is the default one of a Service, which proves whose
// the load balancer is.
func IsDefaultName(name, cluster string, o stack.Owner) bool {
	return name == BalancerName(cluster, o) || name == ClassBalancerName(cluster, o)
}
