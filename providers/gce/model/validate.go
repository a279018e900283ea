package model

import (
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
)

// annotationChecks returns checks of several annotations together.
func annotationChecks() []annotations.Check {
	return []annotations.Check{checkType, checkAddresses, checkCollection}
}

// checkType warns of the deprecated key, which remains supported.
func checkType(_ string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	if _, _, told := oldTypeKey.Lookup(bag); !told {
		return nil
	}
	message := "is deprecated, use " + typeKey.Name
	if _, _, newer := typeKey.Lookup(bag); newer {
		message = "is ignored, because " + typeKey.Name + " is set too"
	}
	return annotations.Problems{annotations.ProblemOf(oldTypeKey.Name, "", message, "", annotations.Warning)}
}

// checkAddresses: only the first two names are read.
func checkAddresses(_ string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	if list := addressesKey.Get(bag); len(list) > maxStatic {
		return annotations.Problems{addressesKey.Warning(bag, "has more than two names; those after the second have no effect", "at most two names")}
	}
	return nil
}

// checkCollection: an address is from a prefix or from a subnet.
// Source: kubernetes/ingress-gce:pkg/l4/resources/l4netlb.go.
func checkCollection(_ string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	if collectionKey.Get(bag) == "" || subnetKeyV2.Get(bag) == "" {
		return nil
	}
	return annotations.Problems{collectionKey.Refusal(bag, "cannot go together with "+subnetKeyV2.Name, "one of the two")}
}

// judgeNew returns the problems of a new Service that follow from its annotations and fields alone.
func judgeNew(in input) annotations.Problems {
	out := append(append(validateFamilies(in), validateNetwork(in)...), validateRanges(in)...)
	// The API server adds the timeout of a Service that asks for affinity.
	if config := in.Service.Spec.SessionAffinityConfig; config != nil || sessionAffinity(in.Service) != affinityClientIP {
		out = append(out, checkStrong(in)...)
	}
	return out
}

// validateService validates everything but annotations, and the kind against the
// existing resources.
func validateService(in input) annotations.Problems {
	var out annotations.Problems
	out = append(out, validateKind(in)...)
	if kind, known := providers.CapabilityOf(kindCapabilities(), in.Kind); known {
		out = append(out, kind.Judge(in.Service, in.Backends)...)
	}
	out = append(out, validateFamilies(in)...)
	out = append(out, validateNetwork(in)...)
	out = append(out, validateAskedIP(in)...)
	out = append(out, validateRanges(in)...)
	if nodeports.LocalOnly(in.Service) && in.Service.Spec.HealthCheckNodePort == 0 && in.Kind != TargetPool {
		out = append(out, annotations.ProblemOf("spec.healthCheckNodePort", "", "is 0 although spec.externalTrafficPolicy is Local: nodes without endpoints cannot be distinguished from nodes with endpoints", "the port that the API server allocates", annotations.Error))
	}
	return out
}

// validateKind tells where the Service asks for another kind than it has.
func validateKind(in input) annotations.Problems {
	var out annotations.Problems
	if in.Kind == TargetPool && optedIn(in.Service) {
		out = append(out, annotations.NotApplied(annotations.ProblemOf(rbsKey.Name, in.Service.Annotations[rbsKey.Name], "is not applied: the live load balancer has a target pool; to change it, delete the Service and create it again", "", annotations.Warning))...)
	}
	class := in.Service.Spec.LoadBalancerClass
	if class == nil {
		return out
	}
	external := *class == classExternal || *class == classExternalLegacy
	if external && wantsInternal(in.Service) {
		key := typeKeyOf(in.Service.Annotations).Name
		out = append(out, annotations.ProblemOf(key, in.Service.Annotations[key], "has no effect, because spec.loadBalancerClass "+*class+" means an external load balancer", "", annotations.Warning))
	}
	return out
}

// validateFamilies judges annotations against the families of the Service.
func validateFamilies(in input) annotations.Problems {
	ipv6 := hasFamily(in, corev1.IPv6Protocol)
	switch {
	case in.Kind == NetLB && ipv6 && tierKey.Get(in.Values) == "Standard":
		return annotations.Problems{tierKey.Refusal(in.Values, "is not possible with IPv6", `"Premium"`)}
	case in.Kind == NetLB && hasFamily(in, corev1.IPv4Protocol) && collectionKey.Get(in.Values) != "":
		return annotations.Problems{collectionKey.Refusal(in.Values, "is for Services of IPv6 alone", "spec.ipFamilies IPv6")}
	}
	return nil
}

// validateNetwork: a Service that selects another network than the default one would
// get a load balancer in the wrong network.
// Source: GoogleCloudPlatform/gke-networking-api:apis/network/v1 (DefaultPodNetworkName).
func validateNetwork(in input) annotations.Problems {
	name, told := in.Service.Spec.Selector[networkSelector]
	if !told || name == "" || name == defaultNetwork {
		return nil
	}
	return annotations.Problems{annotations.ProblemOf("spec.selector "+networkSelector, name, "selects pods of another network than the cluster's, for which Berth makes no load balancers", `"`+defaultNetwork+`", or a loadBalancerClass of another controller`, annotations.Error)}
}

const (
	networkSelector = "networking.gke.io/network"
	defaultNetwork  = "default"
)

// validateAskedIP: the field asks for IPv4 addresses only, as officially.
// Source: kubernetes/ingress-gce:pkg/l4/address/to_use.go.
func validateAskedIP(in input) annotations.Problems {
	asked := in.Service.Spec.LoadBalancerIP
	if asked == "" || !isNewer(in.Kind) || hasFamily(in, corev1.IPv4Protocol) {
		return nil
	}
	return annotations.Problems{annotations.ProblemOf("spec.loadBalancerIP", asked, "has no effect, because the Service has no IPv4; reserved IPv6 addresses are named by "+addressesKey.Name, "", annotations.Warning)}
}

func validateRanges(in input) annotations.Problems {
	_, source, err := nodeports.SourceRanges(in.Service)
	if bad, ok := errors.AsType[*nodeports.RangesError](err); ok {
		return annotations.Problems{annotations.ProblemOf(string(bad.Source), strings.Join(bad.Bad, ", "), "is not a list of ranges of addresses", "CIDRs such as 10.0.0.0/8", annotations.Error)}
	}
	if _, both := in.Service.Annotations[rangesKey.Name]; both && source == nodeports.RangesFromSpec {
		return annotations.Problems{annotations.ProblemOf(rangesKey.Name, "", "has no effect, because spec.loadBalancerSourceRanges is set", "", annotations.Warning)}
	}
	return nil
}
