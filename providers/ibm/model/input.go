package model

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
)

// Input is that of the contract with this cloud's configuration.
type Input = providers.Input[Config]

// Identity is that of the contract with this cloud's configuration.
type Identity = providers.Identity[Config]

// Choose returns the kind of a Service, by its features.
func Choose(svc *corev1.Service) providers.Choice {
	features := featuresIn(svc.Annotations[featuresKey.Name])
	for _, kind := range []struct{ feature, name string }{{featureNLB, NLB}, {featurePrivate, PrivatePath}} {
		if slices.Contains(features, kind.feature) {
			return providers.Choice{Kind: kind.name}
		}
	}
	return providers.Choice{Kind: ALB}
}

// Labels of nodes. Source: IBM-Cloud/cloud-provider-ibm:pkg/vpcctl/vpc_config.go.
const (
	labelZone       = "ibm-cloud.kubernetes.io/zone"
	labelInternalIP = "ibm-cloud.kubernetes.io/internal-ip"
	labelDedicated  = "dedicated"
	edge            = "edge"
	// labelInstance is set in managed clusters, labelInstanceIPI in those of an installer.
	labelInstance    = "ibm-cloud.kubernetes.io/instance-id"
	labelInstanceIPI = "ibm-cloud.kubernetes.io/vpc-instance-id"
)

// SelectNodes returns the labels by which Build chooses the members. It excludes no node: a
// choice that matches no node must not take members away, see followNodes.
func SelectNodes(in Input) nodeports.Filter {
	f := nodeports.Filter{Keep: []string{labelZone, labelInternalIP, labelDedicated, labelInstance, labelInstanceIPI}}
	if key, _ := selectorOf(in); key != "" {
		f.Keep = append(f.Keep, key)
	}
	return f
}

// isChosen reports whether the Service selects a node, by a label or else by its zone.
func isChosen(in Input, n nodeports.Node) bool {
	if key, value := selectorOf(in); key != "" {
		got, found := n.Labels[key]
		return found && (value == "" || got == value)
	}
	zone := zoneKey.Get(in.Values)
	return zone == "" || zoneOf(n) == zone
}

func zoneOf(n nodeports.Node) string { return cmp.Or(n.Labels[labelZone], n.Zone) }

// selectorOf returns the label of the nodes that the Service selects; empty: it selects none.
func selectorOf(in Input) (key, value string) {
	s := nodeSelectorKey.Get(in.Values)
	return s.Key, s.Value
}

// isPublic reports whether clients of the Internet reach the load balancer.
func isPublic(in Input) bool { return ipTypeKey.Get(in.Values) == public }

// nameFor returns the name of the load balancer of a Service.
func nameFor(in Input) string {
	name := nameKey.Get(in.Values)
	if name == "" && in.Service.Spec.LoadBalancerClass != nil {
		name = ClassBalancerName(in.Config.ClusterID, in.Owner)
	}
	return cmp.Or(name, BalancerName(in.Config.ClusterID, in.Owner))
}

// sendsProxy reports whether members are sent the PROXY protocol.
func sendsProxy(in Input) bool {
	return slices.Contains(featuresKey.Get(in.Values), featureProxy)
}

// Reach returns how far a Service reaches: whether it is public, and what it names.
func Reach(in Input) providers.Reach {
	can, _ := providers.CapabilityOf(Capabilities(), in.Kind)
	r := providers.Reach{
		Kind: in.Kind, Internet: isPublic(in), Internal: private, Size: providers.SizeOf(can, in.Service),
		Scheme: annotations.Origin{Source: annotations.FromDefault, Key: ipTypeKey.Name},
		Names:  slices.Concat(providers.AddressField(in.Service), in.Values.Named()),
	}
	if _, origin, given := ipTypeKey.Lookup(in.Values); given {
		r.Scheme = origin
	}
	return r
}
