package model

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// lbcKey is a key that only load balancers of kind LBC have.
func lbcKey[T any](names annotations.Names, group, name, doc, example string, f annotations.Form[T]) *annotations.Key[T] {
	f.Kinds = onLBC()
	if f.Source == "" {
		f.Source = lbcGuide
	}
	return &annotations.Key[T]{Name: name, Names: names, Group: group, Doc: doc, Example: example, Forms: []annotations.Form[T]{f}}
}

// Keys of load balancers of kind LBC: their placement and their clients.
var (
	targetTypeKey = lbcKey(annotations.NamesNothing(), groupKind, lbPrefix+"nlb-target-type", "Chooses pods or instances as targets.", "ip", annotations.Form[string]{
		Type: annotations.String().Legally(`"ip" for pods, any other text for instances`), Change: annotations.Brief,
		Or: []string{"DefaultTargetType"}, Empty: annotations.EmptyParsed, DefaultDoc: "instance",
		Doc: `With ` + lbPrefix + `type "external" and no class it must be "ip" or "instance". Target groups are created again and the listeners switched to them.`,
	})
	nameKey = lbcKey(annotations.NamesThe(annotations.ThingLoadBalancer), groupKind, lbPrefix+"name", "Name of the load balancer.", "shop", annotations.Form[string]{
		Type: annotations.NonEmpty().Checked(balancerName).Legally("at most 32 letters, digits and hyphens"), Change: annotations.IgnoredAfterCreation,
		DefaultDoc: "made of namespace, name and a hash", Doc: "A name that another load balancer has is refused; the official controller may take that one over.",
	})
	addressTypeKey = lbcKey(annotations.NamesNothing(), groupSubnets, lbPrefix+"ip-address-type", "Chooses IPv4 alone or both families.", addressDual, annotations.Form[string]{
		Type: annotations.Enum(AddressIPv4, addressDual), Default: AddressIPv4,
	})
	ipv6Key = lbcKey(annotations.NamesThe(annotations.ThingAddress), groupSubnets, lbPrefix+"ipv6-addresses", "IPv6 addresses, one for each subnet.", "2001:db8::1,2001:db8:1::1", annotations.Form[[]netip.Addr]{
		Type: annotations.ListWith(annotations.ListOptions{AtLeast: 1, Unique: true}, annotations.IP(annotations.IPv6)), Change: annotations.IgnoredAfterCreation,
		DefaultDoc: "AWS assigns addresses", Doc: "In any order: each is used in the subnet whose range contains it.",
	})
	sourceNATKey = lbcKey(annotations.NamesNothing(), groupSubnets, lbPrefix+"enable-prefix-for-ipv6-source-nat", "Gives the load balancer IPv6 prefixes to send from, which UDP over IPv6 needs.", "on", annotations.Form[string]{
		Type: annotations.Enum("on", "off"), Default: "off",
	})
	natPrefixesKey = lbcKey(annotations.NamesBy(annotations.ThingAddressPrefix, namedPrefixes), groupSubnets, lbPrefix+"source-nat-ipv6-prefixes", "IPv6 prefixes to send from, one for each subnet, in the order of the subnets.", "auto_assigned,auto_assigned", annotations.Form[[]string]{
		Type: annotations.ListOf(natPrefix()), DefaultDoc: "AWS assigns prefixes",
	})
	prefixListsKey = annotations.Limiting(lbcKey(annotations.NamesThe(annotations.ThingPrefixList), groupAccess, lbPrefix+"security-group-prefix-lists", "Prefix lists of clients that may connect.", "pl-0a1b2c", annotations.Form[[]string]{
		Type: annotations.ListWith(annotations.ListOptions{Unique: true}, annotations.ID("pl-")), Doc: "With the key, even an empty one, no other client is let in unless source ranges say so.",
	}))
	icmpKey = lbcKey(annotations.NamesNothing(), groupAccess, lbPrefix+"enable-icmp-for-path-mtu-discovery", "Lets in the ICMP messages by which clients learn the path MTU.", "on", annotations.Form[string]{
		Type: annotations.String().Legally(`"on"; any other text is off`), Default: "off", Doc: "For source ranges, not for prefix lists.",
	})
	manageRulesKey = lbcKey(annotations.NamesNothing(), groupAccess, lbPrefix+"manage-backend-security-group-rules", "Lets the load balancer in on nodes although its groups are the user's.", "true", annotations.Form[bool]{
		Type: annotations.Bool(), Or: []string{"ManageBackendSecurityGroupRules"}, Empty: annotations.EmptyParsed, Doc: "For a load balancer without security groups the default is true.",
		Needs: []annotations.Need{{groupsKey.IsSet(), noGroupKey.Is(true)}},
	})
	noGroupKey = lbcKey(annotations.NamesNothing(), groupAccess, lbPrefix+"disable-nlb-sg", "Makes the load balancer without security groups.", "true", annotations.Form[bool]{
		Type: annotations.Bool(), Change: annotations.Refused, Doc: "AWS can neither take the last group away nor add the first one.",
	})
	privateLinkKey = lbcKey(annotations.NamesNothing(), groupAccess, lbPrefix+"inbound-sg-rules-on-private-link-traffic", "Applies the rules of the groups to PrivateLink clients too.", "off", annotations.Form[string]{
		Type: annotations.Enum("on", "off"), DefaultDoc: "as it is, on for a new load balancer", Removal: annotations.Stays,
	})
)

// Keys of its listeners, target groups and attributes.
var (
	certsKey = lbcKey(annotations.NamesThe(annotations.ThingCertificate), groupTLS, certKey.Name, "Certificates with which the load balancer ends TLS.", certKey.Example, annotations.Form[[]string]{
		Type: annotations.ListWith(annotations.ListOptions{Unique: true}, annotations.ARN("acm", "iam")),
		Doc:  "The first is the default one, the others are chosen by the name that a client asks for. UDP ports do not use them.",
	})
	tlsPortsKey = lbcKey(annotations.NamesNothing(), groupTLS, sslPortsKey.Name, "Ports that use the certificates, by number or name.", "443,https", annotations.Form[annotations.Ports]{
		Type:    annotations.PortList(annotations.PortOptions{Names: true, EmptyIsAll: true, MustMatch: true}),
		Default: annotations.AllPorts(), DefaultDoc: "all TCP ports", Doc: `An entry that fits no port is refused, "*" too.`,
	})
	alpnKey = lbcKey(annotations.NamesNothing(), groupTLS, lbPrefix+"alpn-policy", "Protocols that TLS ports offer.", "HTTP2Preferred", annotations.Form[string]{
		Type: annotations.Enum("None", "HTTP1Only", "HTTP2Only", "HTTP2Optional", "HTTP2Preferred"), DefaultDoc: "as it is, None for a new listener", Removal: annotations.Stays,
	})
	tcpUDPKey = lbcKey(annotations.NamesNothing(), groupTLS, lbPrefix+"enable-tcp-udp-listener", "Serves TCP and UDP on one port.", "true", annotations.Form[bool]{
		Type: annotations.Bool(), Bad: annotations.UseFallback, Or: []string{"EnableTCPUDPListener"}, Empty: annotations.EmptyParsed,
		Needs: []annotations.Need{{annotations.PortsAre("a port number that both TCP and UDP have", twoProtocols)}},
		Doc:   "Without it UDP is left out on a port that TCP has as well, which is reported; the official controller leaves out one of the two without a word.",
	})
	listenerAttrKey = perListener(lbcKey(annotations.NamesNothing(), groupSettings, lbPrefix+"listener-attributes.<PROTOCOL>-<PORT>", "Attributes of one listener.", "tcp.idle_timeout.seconds=400", annotations.Form[map[string]string]{
		Type: annotations.MapStrict(), DefaultDoc: "not managed", Removal: annotations.Stays, Doc: "TLS listeners have none. Taking one away leaves it as it is.",
	}))
	actionsKey = perListener(lbcKey(annotations.NamesBy(annotations.ThingTargetGroup, namedGroups), groupSettings, keyPrefix+"actions.<PROTOCOL>-<PORT>", "Shares the traffic of one listener with other Services, or with target groups of others, as JSON.",
		`{"type":"forward","forwardConfig":{"baseServiceWeight":90,"targetGroups":[{"serviceName":"green","servicePort":80,"weight":10}]}}`,
		annotations.Form[listenerAction]{
			Type: annotations.JSONOf("a forward action with baseServiceWeight and targetGroups, each by serviceName and servicePort, or by targetGroupARN", checkAction), Change: annotations.InPlace,
			DefaultDoc: "all traffic to the Service's own targets",
			Doc: "Weights are from 0 to 999. A Service of the namespace gets a target group, in which its pods or node ports are; servicePort is the number or name of one of its ports, and decrypt has a TLS listener send plain TCP there. " +
				"The targets of groups that are named by ARN are none of Berth's business.",
		}))
	proxyPortsKey = lbcKey(annotations.NamesNothing(), groupTLS, lbPrefix+"proxy-protocol-per-target-group", "Ports whose targets get the PROXY protocol, version 2; others do not.", "443", annotations.Form[annotations.Ports]{
		Type: annotations.PortList(annotations.PortOptions{}),
	})
	targetAttrPortKey = lbcKey(annotations.NamesNothing(), groupBackends, lbPrefix+"target-group-attributes.<PORT>", "Attributes of the target group of one port.", "deregistration_delay.timeout_seconds=60", annotations.Form[map[string]string]{
		Type: annotations.MapStrict().Checked(preserveIsBool), Doc: "They win over " + lbPrefix + "target-group-attributes, one by one; an empty value does not.",
	})
	MultiKey = lbcKey(annotations.NamesNothing(), groupBackends, lbPrefix+"multi-cluster-target-group", "Shares the target groups with other clusters: only targets that this one has registered are deregistered.", "true", annotations.Form[bool]{
		Type: annotations.Bool(), Change: annotations.InPlace,
		Doc: "Which they are stands in ConfigMaps aws-lbc-targets-<target group> in the namespace of the Service, as the official controller has them; it needs aws.multiClusterTargetGroups of the chart. " +
			"Taking the key away deregisters the targets of the others, and deleting the Service deletes the groups.",
	})
	QUICKey = lbcKey(annotations.NamesNothing(), groupTLS, lbPrefix+"quic-enabled-ports", "UDP ports that speak QUIC, by number or name; with TCP on the same port TCP_QUIC.", "443", annotations.Form[annotations.Ports]{
		Type: annotations.PortList(annotations.PortOptions{Names: true}), DefaultDoc: "none", Change: annotations.Brief,
		Doc: "Needs pods as targets that have an id, which " + quicContainersKey + " gives them, and aws.quic.enabled of the chart. A port that speaks TCP alone is refused.",
	})
	codesKey = lbcKey(annotations.NamesNothing(), groupHealth, lbPrefix+"healthcheck-success-codes", "HTTP codes that count as healthy.", "200-399", annotations.Form[string]{
		Type: annotations.NonEmpty(), Default: DefaultCodes, Needs: []annotations.Need{byHTTP()},
	})
	attributesKey = lbcKey(annotations.NamesInside(map[string]annotations.Thing{"access_logs.s3.bucket": annotations.ThingBucket}), groupSettings, lbPrefix+"attributes", "Attributes of the load balancer.", "deletion_protection.enabled=true", annotations.Form[map[string]string]{
		Type: annotations.MapStrict().Checked(routingPolicy), DefaultDoc: "not managed", Removal: annotations.Stays,
		Doc: "Any attribute that AWS knows, such as zonal_shift.config.enabled. Taking one away leaves it as it is. deletion_protection.enabled=true holds a Service that is deleted until it is false.",
	})
	capacityKey = lbcKey(annotations.NamesNothing(), groupSettings, lbPrefix+"minimum-load-balancer-capacity", "Capacity that the load balancer always has.", "CapacityUnits=3000", annotations.Form[int]{
		Type: annotations.Custom("capacity", `"CapacityUnits=" and a whole number; 0 takes the reservation back`, capacityUnits), DefaultDoc: "not managed", Removal: annotations.Stays,
		Doc: "Taking the key away leaves it as it is.",
	})
)

const (
	AddressIPv4 = "ipv4"
	addressDual = "dualstack"

	natAssigned = "auto_assigned"
)

// twoProtocols reports whether two ports of a Service have one number.
func twoProtocols(ports []corev1.ServicePort) bool {
	seen := map[int32]bool{}
	for _, p := range ports {
		if seen[p.Port] {
			return true
		}
		seen[p.Port] = true
	}
	return false
}

func perListener[T any](k *annotations.Key[T]) *annotations.Key[T] {
	k.Protocols = listenerProtocols()
	return k
}

// balancerName knows what AWS takes as a name. Source: API reference, CreateLoadBalancer.
func balancerName(name string) error {
	switch {
	case len(name) > maxNameLength:
		return fmt.Errorf("is longer than %d characters", maxNameLength)
	case !regexp.MustCompile(`^[0-9A-Za-z]([0-9A-Za-z-]*[0-9A-Za-z])?$`).MatchString(name):
		return errors.New("has other signs than letters, digits and hyphens, or a hyphen at an end")
	case len(name) >= len(SchemeInternal)+1 && name[:len(SchemeInternal)+1] == SchemeInternal+"-":
		return errors.New("begins with internal-, which AWS keeps for itself")
	}
	return nil
}

// natPrefix is the word for a prefix that AWS chooses, or a range of 80 bits.
func natPrefix() annotations.Type[string] {
	const legal = `"` + natAssigned + `" or an IPv6 range of the length /80`
	return annotations.Custom("prefix", legal, func(raw string) (string, error) {
		p, err := netip.ParsePrefix(raw)
		if raw == natAssigned || err == nil && p.Addr().Is6() && p.Bits() == 80 {
			return raw, nil
		}
		return "", errors.New("is not " + legal)
	})
}

// namedPrefixes returns the prefixes that AWS does not choose.
func namedPrefixes(prefixes []string) []string {
	return slices.DeleteFunc(slices.Clone(prefixes), func(p string) bool { return p == natAssigned })
}

func preserveIsBool(values map[string]string) error {
	v, ok := values[attrPreserveIP]
	if _, err := strconv.ParseBool(v); ok && err != nil {
		return fmt.Errorf("sets %s to %q, only true and false are possible", attrPreserveIP, v)
	}
	return nil
}

func routingPolicy(values map[string]string) error {
	const key = "dns_record.client_routing_policy"
	legal := []string{"any_availability_zone", "partial_availability_zone_affinity", "availability_zone_affinity"}
	if v, ok := values[key]; ok && !slices.Contains(legal, v) {
		return fmt.Errorf("sets %s to %q, possible are %v", key, v, legal)
	}
	return nil
}

func capacityUnits(raw string) (int, error) {
	values, err := annotations.MapStrict().Parse(raw)
	units, said := values["CapacityUnits"]
	if err != nil || !said || len(values) != 1 {
		return 0, errors.New("does not say CapacityUnits and nothing else")
	}
	n, err := strconv.ParseInt(units, 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("has %q, which is not a whole number from 0", units)
	}
	return int(n), nil
}

// checkProxyPorts: one key for all targets leaves nothing to another one.
func checkProxyPorts(kind string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	if kind != LBC {
		return nil
	}
	_, from, said := proxyPortsKey.Lookup(bag)
	if _, _, star := proxyKey.Lookup(bag); star && said {
		return warnAbout(from, "has no effect beside "+proxyKey.Name, "")
	}
	return nil
}

// controllerKeys are the keys of load balancers of kind LBC that this version acts on.
func controllerKeys() []annotations.Declaration {
	return []annotations.Declaration{
		targetTypeKey, nameKey, addressTypeKey, ipv6Key, sourceNATKey, natPrefixesKey,
		prefixListsKey, icmpKey, manageRulesKey, noGroupKey, privateLinkKey,
		certsKey, tlsPortsKey, alpnKey, tcpUDPKey, listenerAttrKey, actionsKey, proxyPortsKey, targetAttrPortKey, MultiKey, QUICKey, codesKey, attributesKey, capacityKey,
	}
}
