package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// Labels of nodes that decide on membership.
const (
	labelManaged   = "kubernetes.azure.com/managed"
	labelGroup     = "kubernetes.azure.com/resource-group"
	labelControl   = "node-role.kubernetes.io/control-plane"
	labelMaster    = "node-role.kubernetes.io/master"
	labelRole      = "kubernetes.io/role"
	labelHostname  = "kubernetes.io/hostname"
	labelSlice     = "kubernetes.io/service-name"
	labelEgress    = "kubernetes.azure.com/service-egress-gateway"
	labelNamespace = "kubernetes.io/metadata.name"
)

// objectKey declares a key of objects other than Services.
func objectKey[T any](place annotations.Place, name, doc, example string, f annotations.Form[T]) *annotations.Key[T] {
	return &annotations.Key[T]{Name: name, On: place, Group: groupObjects, Doc: doc, Example: example, Forms: []annotations.Form[T]{f}}
}

// objectKeys are labels of nodes, endpoint slices and pods.
func objectKeys() []annotations.Declaration {
	control := annotations.Form[bool]{Type: annotations.Presence(), DefaultDoc: "a worker", Source: cpaStandard,
		Doc: "Unless excludeMasterFromStandardLB of the cloud configuration is false; never a member of pools of addresses."}
	return []annotations.Declaration{
		objectKey(annotations.NodeLabel, labelManaged, "Keeps the node out of all load balancers with the value false.", "false", annotations.Form[bool]{
			Type: annotations.BoolWords([]string{"true"}, []string{"false"}, true), Default: true, Bad: annotations.AsAbsent, Source: cpaNodes,
		}),
		objectKey(annotations.NodeLabel, labelGroup, "Resource group of the node; nodes of other groups than the cluster's are kept out.", "other", annotations.Form[string]{
			Type: annotations.String(), DefaultDoc: "the cluster's", Source: cpaNodes,
		}),
		objectKey(annotations.NodeLabel, corev1.LabelNodeExcludeBalancers, "Keeps the node out of all load balancers, with any value.", "true", annotations.Form[bool]{
			Type: annotations.Presence(), Source: cpaNodes,
		}),
		objectKey(annotations.NodeLabel, labelControl, "Keeps the node out as one of the control plane.", "", control),
		objectKey(annotations.NodeLabel, labelMaster, "Keeps the node out as one of the control plane; an older name.", "", control),
		objectKey(annotations.NodeLabel, labelRole, `Keeps the node out as one of the control plane with the value "master"; the oldest name.`, "master", annotations.Form[string]{
			Type: annotations.String(), DefaultDoc: "a worker", Source: cpaNodes,
		}),
		objectKey(annotations.NodeLabel, corev1.LabelTopologyZone, "Zone of the node.", "westeurope-1", annotations.Form[string]{
			Type: annotations.String(), Support: annotations.Accepted, Source: cpaNodes, Reason: "zones of load balancers are those of the region, not of nodes",
		}),
		objectKey(annotations.NodeLabel, labelHostname, "Name of the machine.", "node-1", annotations.Form[string]{
			Type: annotations.String(), Support: annotations.Accepted, Source: cpaStandard, Reason: "the provider id says which machine a node is",
		}),
		objectKey(annotations.NodeLabel, "<any label selected by nodeSelector of a multipleStandardLoadBalancerConfigurations entry>",
			"Puts the node on the load balancers whose nodeSelector it fits.", "", annotations.Form[string]{
				Type: annotations.String(), DefaultDoc: "load balancers without nodeSelector", Source: cpaBalancer,
				Doc: "The scale set of primaryVMSet counts before it. A node that matches none is on no load balancer, and a warning names it.",
			}),
		annotations.Naming(objectKey(annotations.ServiceLabel, "<any label selected by serviceLabelSelector of a multipleStandardLoadBalancerConfigurations entry>",
			"Limits the load balancers that the Service may be on to those whose selector it fits.", "", annotations.Form[string]{
				Type: annotations.String(), DefaultDoc: "load balancers without selectors", Source: cpaBalancer,
				Doc: "serviceNamespaceSelector does the same with the labels of the namespace.",
			}), annotations.NamesNothing()),
		objectKey(annotations.OtherObject, labelSlice, "Service that an endpoint slice belongs to.", "web", annotations.Form[string]{
			Type: annotations.String(), Source: cpaLocal,
			Doc: "Where there are several load balancers, pools of Services with externalTrafficPolicy Local have the nodes with endpoints; a single load balancer has all nodes, and the probe takes those without out. Pools of pods have the ready endpoints themselves.",
		}),
		objectKey(annotations.PodLabel, labelEgress, "Gateway that a pod's connections leave by.", "egress-1", annotations.Form[string]{
			Type: annotations.String(), Support: annotations.Accepted, Source: "kubernetes-sigs/cloud-provider-azure:pkg/consts/consts.go",
			Reason: "it gives pods NAT gateways, which are no load balancers; what others enter into the service gateway for them stays",
		}),
	}
}
