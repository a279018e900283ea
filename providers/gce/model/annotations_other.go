package model

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/berth-lb/berth/annotations"
)

// Annotations that the controller writes. Source: kubernetes/ingress-gce:pkg/l4/annotations/service.go;
// kubernetes/cloud-provider-gcp:providers/gce/gce_annotations.go.
const (
	outBackend       = "service.kubernetes.io/backend-service"
	outRule          = "service.kubernetes.io/%s-forwarding-rule" // tcp, udp, l3; IPv6 with suffix
	outCheck         = "service.kubernetes.io/healthcheck"
	outFirewall      = "service.kubernetes.io/firewall-rule"
	outFirewallIPv6  = "service.kubernetes.io/firewall-rule-ipv6"
	outDeny          = "service.kubernetes.io/firewall-rule-deny"
	outDenyIPv6      = "service.kubernetes.io/firewall-rule-deny-ipv6"
	outCheckFW       = "service.kubernetes.io/firewall-rule-for-hc"
	outCheckFWIPv6   = "service.kubernetes.io/firewall-rule-for-hc-ipv6"
	outLegacyBackend = "networking.gke.io/backend-service"
	outLegacyPool    = "networking.gke.io/target-pool"
	outNEGStatus     = "cloud.google.com/neg-status"

	tcpRuleOutput = "service.kubernetes.io/tcp-forwarding-rule"
	udpRuleOutput = "service.kubernetes.io/udp-forwarding-rule"
)

// controllerOutputs returns all annotations that the controller writes, with their
// meaning.
func controllerOutputs() [][2]string {
	return [][2]string{
		{outBackend, "the backend service"},
		{tcpRuleOutput, "the IPv4 rule for TCP"},
		{udpRuleOutput, "the IPv4 rule for UDP"},
		{"service.kubernetes.io/l3-forwarding-rule", "the IPv4 rule for all protocols"},
		{"service.kubernetes.io/tcp-forwarding-rule-ipv6", "the IPv6 rule for TCP"},
		{"service.kubernetes.io/udp-forwarding-rule-ipv6", "the IPv6 rule for UDP"},
		{"service.kubernetes.io/l3-forwarding-rule-ipv6", "the IPv6 rule for all protocols"},
		{outCheck, "the health check"},
		{outFirewall, "the firewall of IPv4 clients"},
		{outFirewallIPv6, "the firewall of IPv6 clients"},
		{outDeny, "the firewall that closes the rest of IPv4"},
		{outDenyIPv6, "the firewall that closes the rest of IPv6"},
		{outCheckFW, "the firewall of the health check"},
		{outCheckFWIPv6, "the IPv6 firewall of the health check"},
		{outLegacyBackend, "the backend service of kind ilb-ig, if enable-l4-lb-annotations is set"},
		{outLegacyPool, "the target pool, if enable-l4-lb-annotations is set"},
		{outNEGStatus, "the network endpoint groups and their zones, as JSON"},
	}
}

// outputKeys declare them, so that they cause no warning. A value that a user writes
// there is overwritten.
func outputKeys() []annotations.Declaration {
	var out []annotations.Declaration
	for _, o := range controllerOutputs() {
		out = append(out, &annotations.Key[string]{
			Name: o[0], Group: groupOutput, Writer: annotations.ByController, Doc: "Name of " + o[1] + ", written by the controller.",
			Forms: []annotations.Form[string]{{Type: annotations.String(), Source: gceAnnotations}},
		})
	}
	return out
}

// otherKeys are keys on Services for load balancers that are not made here.
func otherKeys() []annotations.Declaration {
	return []annotations.Declaration{
		&annotations.Key[[]string]{
			Name: "networking.gke.io/custom-forwarding-rule", Names: annotations.NamesThe(annotations.ThingLoadBalancer), Group: groupNEG, Example: "my-rule",
			Doc: "Forwarding rules of the user whose addresses are published in the status, for the class of standalone endpoint groups.",
			Forms: []annotations.Form[[]string]{{
				Type: annotations.ListOf(annotations.NonEmpty()), Support: annotations.Accepted, Empty: annotations.EmptyAbsent,
				Reason: "the class networking.gke.io/standalone-passthrough-lb-neg is not served by this version",
				Source: "kubernetes/ingress-gce:pkg/l4/controllers/standalonenegcontroller.go",
			}},
		},
		&annotations.Key[json.RawMessage]{
			Name: "cloud.google.com/neg", Names: annotations.NamesNothing(), Group: groupNEG, Example: `{"exposed_ports":{"80":{}}}`,
			Doc: "Endpoint groups of pods for load balancers that are made elsewhere.",
			Forms: []annotations.Form[json.RawMessage]{{
				Type: annotations.JSONOf[json.RawMessage]("an object", nil), Bad: annotations.AsAbsent,
				Doc:    "Read by the endpoint group controller of ingress-gce, which continues to do so; passthrough load balancers cannot use such groups.",
				Source: "kubernetes/ingress-gce:pkg/negannotation",
			}},
		},
	}
}

// objectKey declares a key of objects other than Services.
func objectKey[T any](place annotations.Place, name, doc, example string, f annotations.Form[T]) *annotations.Key[T] {
	return &annotations.Key[T]{Name: name, On: place, Group: groupObjects, Doc: doc, Example: example, Forms: []annotations.Form[T]{f}}
}

// Labels of nodes that decide whether a node is a backend.
const (
	labelMaster     = "node-role.kubernetes.io/master"
	labelOldExclude = "alpha.service-controller.kubernetes.io/exclude-balancer"
	labelOperation  = "operation.gke.io/type"
	operationDrain  = "drain"
)

// objectKeys are keys on nodes, and two that are no annotations but act like one.
func objectKeys() []annotations.Declaration {
	multiNetwork := "Services in other networks than the cluster's are not served by this version"
	const ccmZone = "kubernetes/cloud-provider-gcp:providers/gce/gce_instances.go"
	return []annotations.Declaration{
		objectKey(annotations.NodeLabel, "topology.kubernetes.io/zone", "Zone of the node, where its provider id names none.", "us-central1-a",
			annotations.Form[string]{Type: annotations.String(), Source: ccmZone}),
		objectKey(annotations.NodeLabel, "failure-domain.beta.kubernetes.io/zone", "Older name of the zone label.", "us-central1-a",
			annotations.Form[string]{Type: annotations.String(), Source: ccmZone}),
		objectKey(annotations.NodeLabel, "cloud.google.com/gke-node-pool-subnet", "Subnet of the node.", "pool-subnet",
			annotations.Form[string]{
				Type: annotations.String(), Support: annotations.Accepted, Source: gceZones,
				Reason: "the subnet of a node is the one whose range holds the node's address",
			}),
		objectKey(annotations.NodeLabel, "node.kubernetes.io/exclude-from-external-load-balancers", "Keeps the node out of all load balancers.", "true",
			annotations.Form[bool]{
				Type: annotations.Bool(), Bad: annotations.UseFallback, Fallback: true, Source: "kubernetes/cloud-provider:controllers/service/controller.go",
				Doc: "A value that is neither true nor false keeps the node out as well; endpoint groups take any value as true.",
			}),
		objectKey(annotations.NodeLabel, labelOldExclude, "Keeps the node out of endpoint groups; an older name.", "true",
			annotations.Form[bool]{Type: annotations.Presence(), Source: "kubernetes/ingress-gce:pkg/utils/utils.go"}),
		objectKey(annotations.NodeLabel, labelMaster, "Keeps the node out of endpoint groups.", "",
			annotations.Form[bool]{Type: annotations.Presence(), Source: "kubernetes/ingress-gce:pkg/utils/utils.go"}),
		objectKey(annotations.NodeLabel, labelOperation, "Keeps nodes with the value drain out of endpoint groups with policy Cluster.", operationDrain,
			annotations.Form[string]{
				Type: annotations.String(), Source: "kubernetes/ingress-gce:pkg/utils/utils.go",
				Doc: "With policy Local a node stays while it has pods, so that no connection is cut early.",
			}),
		objectKey(annotations.OtherObject, "ToBeDeletedByClusterAutoscaler", "Taint of nodes that are about to be deleted: they stay backends until then, since their health check fails.", "",
			annotations.Form[bool]{Type: annotations.Presence(), Source: "kubernetes/cloud-provider:controllers/service/controller.go"}),
		objectKey(annotations.NodeAnnotation, "networking.gke.io/north-interfaces", "Addresses of the node in other networks.", "",
			annotations.Form[string]{Type: annotations.String(), Support: annotations.Accepted, Reason: multiNetwork, Source: "kubernetes/ingress-gce:pkg/network/network.go"}),
		objectKey(annotations.OtherObject, "networking.gke.io/network", "Key of spec.selector: the network that the Service is in.", "blue",
			annotations.Form[string]{Type: annotations.String(), Support: annotations.Accepted, Reason: multiNetwork, Source: "kubernetes/ingress-gce:pkg/network/network.go"}),
	}
}

// rateForm declares a number from 0 to 1.
func rateForm() annotations.Type[float64] {
	const legal = "a number from 0 to 1"
	return annotations.Custom("number", legal, func(raw string) (float64, error) {
		n, err := strconv.ParseFloat(raw, 64)
		if err != nil || n < 0 || n > 1 || n != n {
			return 0, errors.New("is not " + legal)
		}
		return n, nil
	})
}
