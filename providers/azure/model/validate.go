package model

import (
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
)

// validateService validates what is not an annotation: fields of the Service and what
// the cloud configuration leaves open. It returns all problems at once.
func validateService(in input) annotations.Problems {
	out := validateConfig(in)
	svc := in.Service
	if kind, known := providers.CapabilityOf(kindCapabilities(), in.Kind); known {
		out = append(out, kind.Judge(svc, in.Backends)...)
	}
	if in.Backends.Health.Source == nodeports.HealthMissing {
		out = append(out, annotations.ProblemOf("spec.healthCheckNodePort", "",
			"is 0 although spec.externalTrafficPolicy is Local, so nodes without endpoints cannot be distinguished from nodes with endpoints", "a port, which the API server allocates", annotations.Error))
	}
	return append(out, validateIP(in, svc)...)
}

// validateIP: text that is no address counts as an IPv6 address in the official
// controller, and is then not found.
func validateIP(in input, svc *corev1.Service) annotations.Problems {
	const key = "spec.loadBalancerIP"
	text := svc.Spec.LoadBalancerIP
	if text == "" {
		return nil
	}
	a, err := netip.ParseAddr(strings.TrimSpace(text))
	if err != nil {
		return annotations.Problems{annotations.ProblemOf(key, text, "is no address", "an IPv4 or IPv6 address", annotations.Error)}
	}
	for _, f := range in.Backends.Families {
		if nodeports.FamilyOf(a) != f {
			continue
		}
		if by := addressKey(f); wantedBy(in, f) == by.Name && by.Get(in.Values).Unmap() != a.Unmap() {
			return annotations.Problems{annotations.ProblemOf(key, text, "has no effect, because "+by.Name+" says another address", "", annotations.Warning)}
		}
		return nil
	}
	return annotations.Problems{annotations.ProblemOf(key, text, fmt.Sprintf("is of a family that the Service does not have, so it has no effect; it has %v", in.Backends.Families), "", annotations.Warning)}
}

// validateConfig names what is missing in the cloud configuration for this
// Service, and only for it.
func validateConfig(in input) annotations.Problems {
	var out annotations.Problems
	need := func(value, key string) {
		if value == "" {
			out = append(out, annotations.ProblemOf(key+" of the cloud config", "", "is missing, and the Service needs it", "", annotations.Error))
		}
	}
	need(in.Config.Subscription, "subscriptionId")
	need(in.Config.Group, "resourceGroup")
	need(in.Config.Location, "location")
	if in.Kind == Internal || in.Config.PoolType == PoolNodeIP {
		need(in.Config.VNet, "vnetName")
	}
	if in.Kind == Internal {
		need(subnetName(in), "subnetName")
	}
	if !noAccessKey.Get(in.Values) {
		need(in.Config.Security, "securityGroupName")
	}
	if strings.HasSuffix(lowerCase(clusterName(in.Identity)), suffixInternal) {
		out = append(out, annotations.ProblemOf("--cluster-name", in.Cluster, `ends in "-internal", by which internal load balancers are known`, "another name", annotations.Error))
	}
	return out
}
