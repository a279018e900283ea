package model

import (
	"crypto/md5" //nolint:gosec // See allowName.
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
)

const (
	// baseLength keeps base names within what the first API versions took; the
	// last digit of the UID falls off. Source: kubernetes/cloud-provider:cloud.go.
	baseLength = 32
	// nameLimit is 80 less what the suffix of the second IP family takes.
	// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_standard.go.
	nameLimit = 75
	// linkNameLimit is that of ip configurations of private link services.
	linkNameLimit = 80

	suffixInternal = "-internal"
	SuffixIPv6     = "-IPv6"

	// sharedProbe is the one probe of all Services with traffic policy Cluster.
	sharedProbe = "cluster-service-shared-health-probe"

	rulePrefix  = "k8s-azure-lb"
	allowPrefix = rulePrefix + "_allow_"
	denyPrefix  = rulePrefix + "_deny-all_"
)

func lowerCase(s string) string { return strings.ToLower(s) }

// BaseName is the name that all of a Service's parts begin with. Where what was left
// of a Service does not tell its UID, it is one that no part can have.
func BaseName(uid string) string {
	if uid == "" {
		return "?"
	}
	name := "a" + strings.ReplaceAll(uid, "-", "")
	return name[:min(len(name), baseLength)]
}

// ServiceKey names the Service in tags.
func ServiceKey(o stack.Owner) string { return o.Namespace + "/" + o.Name }

// ownedBy reports whether a part of a load balancer is the Service's by its name.
func ownedBy(base, name string) bool {
	return len(name) >= len(base) && strings.EqualFold(name[:len(base)], base)
}

// BaseOf is the base name that a part's name begins with, in lower case; "" for
// names that no Service's part has.
func BaseOf(name string) string {
	n := lowerCase(name)
	if len(n) < baseLength || n[0] != 'a' {
		return ""
	}
	for _, c := range n[1:baseLength] {
		if !strings.ContainsRune("0123456789abcdef", c) {
			return ""
		}
	}
	if len(n) > baseLength && n[baseLength] != '-' {
		return ""
	}
	return n[:baseLength]
}

// familySuffix marks the IPv6 half of a Service with both families. A Service
// with one family has no suffix, whichever it is.
func familySuffix(family corev1.IPFamily, dual bool) string {
	if dual && family == corev1.IPv6Protocol {
		return SuffixIPv6
	}
	return ""
}

// frontendName is the base name, with the subnet where the user names one. What
// is cut may not end in a sign that ARM refuses at the end of a name.
func frontendName(base, subnet, suffix string) string {
	if subnet == "" {
		return base + suffix
	}
	name := base + "-" + subnet
	if len(name) <= nameLimit {
		return name + suffix
	}
	name = name[:nameLimit]
	if last := name[len(name)-1]; !isLetter(last) && last != '_' {
		name = name[:len(name)-1] + "_"
	}
	return name + suffix
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// ruleName is the name of a rule and of its probe.
func ruleName(base, subnet string, protocol corev1.Protocol, port int32, suffix string) string {
	tail := fmt.Sprintf("-%s-%d", protocol, port)
	if subnet == "" {
		return base + tail + suffix
	}
	room := max(0, nameLimit-len(base)-1-len(tail))
	return base + "-" + subnet[:min(len(subnet), room)] + tail + suffix
}

// publicIPName is the name of a public IP that is made for a Service.
func publicIPName(cluster, base, prefixID, suffix string) string {
	name := cluster + "-" + base
	if prefixID != "" {
		name += "-" + LastSegment(prefixID)
	}
	return name[:min(len(name), nameLimit)] + suffix
}

// LastSegment is what an ARM id ends with: the name.
func LastSegment(id string) string { return id[strings.LastIndex(id, "/")+1:] }

// PoolName is the name of the pool of a family, for all Services.
func PoolName(cluster string, family corev1.IPFamily) string {
	if family == corev1.IPv6Protocol {
		return cluster + SuffixIPv6
	}
	return cluster
}

// LocalPoolName is the pool of one Service with traffic policy Local, where
// there are several load balancers.
func LocalPoolName(o stack.Owner, family corev1.IPFamily) string {
	name := lowerCase(o.Namespace + "-" + o.Name)
	if family == corev1.IPv6Protocol {
		return name + lowerCase(SuffixIPv6)
	}
	return name
}

// linkName is the default name of a private link service.
func linkName(frontend string) string { return "pls-" + frontend }

// linkIPName is the name of an ip configuration of a private link service.
func linkIPName(subnet, link, kind, tail string) string {
	front, end := subnet+"-"+link, "-"+kind+"-"+tail
	return front[:min(len(front), max(0, linkNameLimit-len(end)))] + end
}

// allowName is the name of an allow rule: a hash of its content without the
// destinations, so that all Services with the same content share it.
func allowName(family, protocol string, sources, ports []string) string {
	s, p := slices.Clone(sources), slices.Clone(ports)
	slices.Sort(s)
	slices.Sort(p)
	text := protocol + "_" + strings.Join(s, ",") + "_" + strings.Join(p, ",")
	sum := md5.Sum([]byte(text)) //nolint:gosec // The official controller makes its names like this; nothing is kept secret by it.
	return allowPrefix + family + "_" + hex.EncodeToString(sum[:])
}

func denyName(family string) string { return denyPrefix + family }

// Keys.

// keyOf is the key of a resource whose name has parts.
func keyOf(kind stack.Kind, parts ...string) stack.Key {
	return stack.Key{Kind: kind, Name: lowerCase(strings.Join(parts, "/"))}
}

// BalancerKey is that of a load balancer.
func BalancerKey(lb string) stack.Key { return keyOf(KindBalancer, lb) }

// EntriesKey is that of what a Service has on a load balancer.
func EntriesKey(lb string) stack.Key { return keyOf(KindEntries, lb) }

// PoolKey is that of a pool of addresses.
func PoolKey(lb, pool string) stack.Key { return keyOf(KindPool, lb, pool) }

// NICsKey is that of a pool of network interfaces.
func NICsKey(lb, pool string) stack.Key { return keyOf(KindNICs, lb, pool) }

// ScaleSetKey is that of what a scale set says of a pool.
func ScaleSetKey(lb, pool, scaleSetID string) stack.Key {
	return keyOf(KindScaleSet, lb, pool, GroupOf(scaleSetID), LastSegment(scaleSetID))
}

// PublicIPKey is that of a public IP.
func PublicIPKey(group, name string) stack.Key { return keyOf(KindPublicIP, group, name) }

func bindingKey(group, name string) stack.Key  { return keyOf(KindBinding, group, name) }
func securityKey(group, name string) stack.Key { return keyOf(KindSecurity, group, name) }
func accessKey(rule, destination string) stack.Key {
	return stack.Key{Kind: KindAccess, Name: rule + "/" + lowerCase(destination)}
}

// LinkKey is that of a private link service.
func LinkKey() stack.Key { return stack.Key{Kind: KindLink} }

// PolicyKey is that of the network policy of a subnet.
func PolicyKey(group, network, subnet string) stack.Key {
	return keyOf(KindPolicy, group, network, subnet)
}

// ARM ids. They are compared without case: ARM answers them in the case that the
// service likes. Source: Azure Resource Manager reference.

// ARMID is that of something of the network.
func ARMID(subscription, group, kind, name string) string {
	return "/subscriptions/" + subscription + "/resourceGroups/" + group + "/providers/Microsoft.Network/" + kind + "/" + name
}

// BalancerID is the ARM id of a load balancer.
func (c Config) BalancerID(lb string) string {
	return ARMID(c.SubscriptionOfNetwork(), c.GroupOfBalancers(), "loadBalancers", lb)
}

// PublicIPID is the ARM id of a public IP.
func (c Config) PublicIPID(k stack.Key) string {
	group, name, _ := strings.Cut(k.Name, "/")
	return ARMID(c.SubscriptionOfNetwork(), group, "publicIPAddresses", name)
}

// SecurityID is the ARM id of the security group.
func (c Config) SecurityID() string {
	return ARMID(c.SubscriptionOfNetwork(), c.securityGroup(), "networkSecurityGroups", c.Security)
}

func (c Config) networkID() string {
	// The official controller takes the cluster's subscription for pools; subnets
	// are asked for in that of the network. One id for both is right in every
	// set-up in which it works there.
	return ARMID(c.SubscriptionOfNetwork(), c.NetworkGroup(), "virtualNetworks", c.VNet)
}

// SubnetID is the ARM id of a subnet of the virtual network.
func (c Config) SubnetID(subnet string) string { return c.networkID() + "/subnets/" + subnet }

// GroupOf is the resource group in an ARM id, in lower case.
func GroupOf(id string) string { return SegmentAfter(id, "resourcegroups") }

// SegmentAfter is the segment of an id that follows the named one, in lower case.
func SegmentAfter(id, name string) string {
	found := false
	for part := range strings.SplitSeq(id, "/") {
		if found {
			return lowerCase(part)
		}
		found = strings.EqualFold(part, name)
	}
	return ""
}

// PublicIPKeyOf is the key of the public IP with the ARM id.
func PublicIPKeyOf(id string) stack.Key { return PublicIPKey(GroupOf(id), LastSegment(id)) }

// SameID compares ARM ids.
func SameID(a, b string) bool { return strings.EqualFold(a, b) }
