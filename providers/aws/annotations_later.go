package aws

import (
	"encoding/json"

	"github.com/berth-lb/berth/annotations"
)

// laterReason says of which load balancers the keys below are.
const laterReason = "only load balancers of the AWS Load Balancer Controller have this setting, and this version makes none of them"

// later declares a key that only the AWS Load Balancer Controller reads. Its
// type is for the reference page; the value is not looked at.
func later[T any](name, doc, example string, change annotations.Change, t annotations.Type[T]) *annotations.Key[T] {
	return &annotations.Key[T]{
		Name: name, Group: groupLBC, Doc: doc, Example: example,
		Forms: []annotations.Form[T]{{
			Type: t, Change: change, Support: annotations.Later, Reason: laterReason, Source: lbcGuide,
		}},
	}
}

// listenerProtocols are the protocols that stand in per-port keys.
func listenerProtocols() []string {
	return []string{"TCP", "UDP", "TCP_UDP", "TLS", "QUIC", "TCP_QUIC"}
}

// laterPort is later for keys that name a listener.
func laterPort[T any](name, doc, example string, t annotations.Type[T]) *annotations.Key[T] {
	k := later(name, doc, example, annotations.InPlace, t)
	k.Protocols = listenerProtocols()
	return k
}

func onOff() annotations.Type[bool] {
	return annotations.BoolWords([]string{"on"}, []string{"off"}, false)
}

func words() annotations.Type[[]string] { return annotations.ListOf(annotations.NonEmpty()) }

// laterKeys are all keys that only the AWS Load Balancer Controller reads.
func laterKeys() []annotations.Declaration {
	return append(laterBalancerKeys(), laterPortKeys()...)
}

func laterBalancerKeys() []annotations.Declaration {
	b, inPlace := annotations.Bool(), annotations.InPlace
	return []annotations.Declaration{
		later(lbPrefix+"nlb-target-type", "Chooses pods or instances as targets.", "ip", inPlace, annotations.Enum("instance", "ip")),
		later(lbPrefix+"scheme", "Chooses public or private addresses.", "internet-facing", annotations.Replaced, annotations.Enum(schemeInternal, schemePublic)),
		later(lbPrefix+"name", "Name of the load balancer.", "shop", annotations.IgnoredAfterCreation, annotations.NonEmpty().Legally("at most 32 letters, digits and hyphens")),
		later(lbPrefix+"security-group-prefix-lists", "Prefix lists of clients that may connect.", "pl-0a1b2c", inPlace, annotations.ListOf(annotations.ID("pl-"))),
		later(lbPrefix+"enable-icmp-for-path-mtu-discovery", "Lets in the ICMP messages by which clients learn the path MTU.", "on", inPlace, onOff()),
		later(lbPrefix+"manage-backend-security-group-rules", "Manages the rules of nodes or pods although the groups are the user's.", "true", inPlace, b),
		later(lbPrefix+"disable-nlb-sg", "Makes the load balancer without security groups.", "true", annotations.Refused, b),
		later(lbPrefix+"inbound-sg-rules-on-private-link-traffic", "Applies the rules of the groups to PrivateLink clients too.", "off", inPlace, onOff()),
		later(lbPrefix+"ipv6-addresses", "IPv6 addresses, one for each subnet.", "2001:db8::1,2001:db8::2", annotations.IgnoredAfterCreation, annotations.ListOf(annotations.IP(annotations.IPv6))),
		later(lbPrefix+"ip-address-type", "Chooses IPv4 alone or both families.", "dualstack", inPlace, annotations.Enum("ipv4", "dualstack")),
		later(lbPrefix+"enable-prefix-for-ipv6-source-nat", "Gives the load balancer IPv6 prefixes to send from, which UDP over IPv6 needs.", "on", inPlace, onOff()),
		later(lbPrefix+"source-nat-ipv6-prefixes", "IPv6 prefixes to send from, one for each subnet.", "auto_assigned,auto_assigned", inPlace, words()),
		later(lbPrefix+"multi-cluster-target-group", "Shares the target groups with other clusters.", "true", inPlace, b),
		later(lbPrefix+"attributes", "Attributes of the load balancer.", "deletion_protection.enabled=true", inPlace, annotations.MapStrict()),
		later(lbPrefix+"minimum-load-balancer-capacity", "Capacity that the load balancer always has.", "CapacityUnits=3000", inPlace, annotations.MapStrict()),
		later(lbPrefix+"healthcheck-success-codes", "HTTP codes that count as healthy.", "200-399", inPlace, annotations.NonEmpty()),
	}
}

func laterPortKeys() []annotations.Declaration {
	ports := annotations.PortList(annotations.PortOptions{Names: true})
	return []annotations.Declaration{
		later(lbPrefix+"alpn-policy", "Protocols that TLS ports offer.", "HTTP2Preferred", annotations.InPlace,
			annotations.Enum("None", "HTTP1Only", "HTTP2Only", "HTTP2Optional", "HTTP2Preferred")),
		later(lbPrefix+"enable-tcp-udp-listener", "Serves TCP and UDP on one port.", "true", annotations.InPlace, annotations.Bool()),
		later(lbPrefix+"quic-enabled-ports", "Ports that speak QUIC.", "443", annotations.InPlace, ports),
		later(lbPrefix+"proxy-protocol-per-target-group", "Ports whose targets get the PROXY protocol, version 2.", "443", annotations.InPlace,
			annotations.PortList(annotations.PortOptions{})),
		later(lbPrefix+"target-group-attributes.<PORT>", "Attributes of the target group of one port.", "deregistration_delay.timeout_seconds=60",
			annotations.InPlace, annotations.MapStrict()),
		laterPort(lbPrefix+"listener-attributes.<PROTOCOL>-<PORT>", "Attributes of one listener.", "tcp.idle_timeout.seconds=400", annotations.MapStrict()),
		laterPort(keyPrefix+"actions.<PROTOCOL>-<PORT>", "What one listener does, as JSON.", `{"type":"forward"}`,
			annotations.JSONOf[json.RawMessage]("a forward action", nil)),
	}
}

// on declares a key that does not stand on Services.
func on[T any](place annotations.Place, name, doc, example string, f annotations.Form[T]) *annotations.Key[T] {
	return &annotations.Key[T]{Name: name, On: place, Group: groupObjects, Doc: doc, Example: example, Forms: []annotations.Form[T]{f}}
}

// objectKeys are keys on nodes, pods, namespaces and objects of the AWS Load
// Balancer Controller.
func objectKeys() []annotations.Declaration {
	present := annotations.Form[bool]{Type: annotations.Presence(), Support: annotations.Later, Reason: laterReason, Source: lbcGuide}
	return []annotations.Declaration{
		on(annotations.NodeLabel, "node.kubernetes.io/exclude-from-external-load-balancers",
			"Keeps the node out of all load balancers.", "true", annotations.Form[bool]{
				Type: annotations.Bool(), Bad: annotations.UseFallback, Fallback: true,
				Doc: "A value that is neither true nor false keeps the node out as well.", Source: "kubernetes/cloud-provider:controllers/service/controller.go",
			}),
		on(annotations.NodeLabel, "alpha.service-controller.kubernetes.io/exclude-balancer", "Keeps the node out of instance targets; an older name.", "true", present),
		on(annotations.NodeLabel, "node-role.kubernetes.io/master", "Keeps the node out of instance targets.", "", present),
		on(annotations.NodeLabel, "eks.amazonaws.com/compute-type", "Keeps nodes of type fargate out of instance targets.", "fargate", annotations.Form[string]{
			Type: annotations.String(), Support: annotations.Later, Source: lbcGuide,
			Reason: laterReason + "; nodes that are no instances are never targets anyway",
		}),
		on(annotations.NamespaceLabel, "elbv2.k8s.aws/pod-readiness-gate-inject", "Makes new pods of the namespace wait until they are healthy targets.", "enabled", annotations.Form[string]{
			Type: annotations.Enum("enabled"), Support: annotations.Later, Reason: laterReason,
			Source: "kubernetes-sigs/aws-load-balancer-controller:docs/deploy/pod_readiness_gate.md",
		}),
		on(annotations.PodAnnotation, lbPrefix+"quic-enabled-containers", "Containers that get a QUIC server id.", "proxy", annotations.Form[[]string]{
			Type: words(), Support: annotations.Later, Reason: laterReason, Source: lbcGuide,
		}),
		on(annotations.PodAnnotation, "vpc.amazonaws.com/pod-eni", "Network interface of the pod, written by the VPC network plugin.", "", annotations.Form[string]{
			Type: annotations.String(), Support: annotations.Later, Reason: laterReason,
			Source: "kubernetes-sigs/aws-load-balancer-controller:pkg/networking/pod_eni_info_resolver.go",
		}),
		on(annotations.OtherObject, "elbv2.k8s.aws/checkpoint", "Hash of what was last done for a TargetGroupBinding, written by its controller.", "", annotations.Form[string]{
			Type: annotations.String(), Support: annotations.Later, Reason: laterReason,
			Source: "kubernetes-sigs/aws-load-balancer-controller:pkg/annotations/constants.go",
		}),
	}
}
