package model

import (
	"github.com/berth-lb/berth/annotations"
)

// listenerProtocols are the protocols that stand in per-port keys.
func listenerProtocols() []string {
	return []string{"TCP", "UDP", "TCP_UDP", "TLS", "QUIC", "TCP_QUIC"}
}

func wordList() annotations.Type[[]string] { return annotations.ListOf(annotations.NonEmpty()) }

const (
	// quicContainersKey is the annotation of pods that names containers, and quicLabel the
	// label of namespaces in which it is looked at.
	quicContainersKey = lbPrefix + "quic-enabled-containers"
	quicLabel         = "elbv2.k8s.aws/quic-server-id-inject"
)

// objectKey declares a key of objects other than Services.
func objectKey[T any](place annotations.Place, name, doc, example string, f annotations.Form[T]) *annotations.Key[T] {
	return &annotations.Key[T]{Name: name, On: place, Group: groupObjects, Doc: doc, Example: example, Forms: []annotations.Form[T]{f}}
}

// objectKeys are keys on nodes, pods, namespaces and objects of the AWS Load
// Balancer Controller.
func objectKeys() []annotations.Declaration {
	present := annotations.Form[bool]{Kinds: onLBC(), Type: annotations.Presence(), Source: lbcGuide}
	return []annotations.Declaration{
		objectKey(annotations.NodeLabel, "node.kubernetes.io/exclude-from-external-load-balancers",
			"Keeps the node out of all load balancers.", "true", annotations.Form[bool]{
				Type: annotations.Bool(), Bad: annotations.UseFallback, Fallback: true,
				Doc: "A value that is neither true nor false keeps the node out as well.", Source: "kubernetes/cloud-provider:controllers/service/controller.go",
			}),
		objectKey(annotations.NodeLabel, "alpha.service-controller.kubernetes.io/exclude-balancer", "Keeps the node out of instance targets; an older name.", "true", present),
		objectKey(annotations.NodeLabel, "node-role.kubernetes.io/master", "Keeps the node out of instance targets.", "", present),
		objectKey(annotations.NodeLabel, "eks.amazonaws.com/compute-type", "Keeps nodes of type fargate out of instance targets.", "fargate", annotations.Form[string]{
			Kinds: onLBC(), Type: annotations.String(), Source: lbcGuide, Doc: "Nodes that are no instances are never instance targets.",
		}),
		objectKey(annotations.NamespaceLabel, "elbv2.k8s.aws/pod-readiness-gate-inject", "Makes new pods of the namespace wait until they are healthy targets.", "enabled", annotations.Form[string]{
			Kinds: onLBC(), Type: annotations.Enum("enabled"), Doc: "Needs --readiness-gates, and the webhook of the chart (readinessGates.webhook.enabled).",
			Source: "kubernetes-sigs/aws-load-balancer-controller:docs/deploy/pod_readiness_gate.md",
		}),
		objectKey(annotations.NamespaceLabel, quicLabel, "Gives new pods of the namespace ids for QUIC.", "enabled", annotations.Form[string]{
			Kinds: onLBC(), Type: annotations.Enum("enabled"), Doc: "Needs the webhook of the chart (aws.quic.enabled).",
			Source: "kubernetes-sigs/aws-load-balancer-controller:docs/guide/use_cases/quic/index.md",
		}),
		objectKey(annotations.PodAnnotation, quicContainersKey, "Containers that get an id for QUIC, in the environment variable "+serverIDEnv+".", "proxy", annotations.Form[[]string]{
			Kinds: onLBC(), Type: wordList(), Source: lbcGuide, Doc: "For new pods in namespaces with the label " + quicLabel + ".",
		}),
		objectKey(annotations.PodAnnotation, "vpc.amazonaws.com/pod-eni", "Network interface of the pod, written by the VPC network plugin.", "", annotations.Form[string]{
			Kinds: onLBC(), Type: annotations.String(), Support: annotations.Accepted, Reason: "EC2 is asked for the interface by the address of the pod, which tells the same",
			Source: "kubernetes-sigs/aws-load-balancer-controller:pkg/networking/pod_eni_info_resolver.go",
		}),
		objectKey(annotations.OtherObject, "elbv2.k8s.aws/checkpoint", "Hash of what was last done for a TargetGroupBinding, written by its controller.", "", annotations.Form[string]{
			Kinds: onLBC(), Type: annotations.String(), Support: annotations.Accepted, Reason: "nothing is remembered outside of the Service and the cloud, and no TargetGroupBinding is touched",
			Source: "kubernetes-sigs/aws-load-balancer-controller:pkg/annotations/constants.go",
		}),
	}
}
