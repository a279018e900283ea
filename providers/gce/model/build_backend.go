package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// drainTCP is how long connections go on to a node that leaves, in seconds.
// Source: kubernetes/ingress-gce:pkg/l4/backends/backends.go.
const drainTCP = 30

// newerBackend is the backend service of the newer kinds. Backends that another client
// has added stay.
func (b *builder) newerBackend(check stack.Ref) Backend {
	found, _ := b.found(stack.Key{Kind: KindBackend, Name: keyV2})
	old, _ := found.Spec.(Backend)
	spec := Backend{
		Name: b.names.v2(0), Scheme: b.scheme, Protocol: b.protocol(), Affinity: sessionAffinity(b.in.Service), Checks: []stack.Ref{check},
		Description:  v2Description{ServiceName: ServiceName(b.in.Owner), APIVersion: apiVersionGA}.String(),
		ZoneAffinity: b.spillover(), Locality: b.locality(old), Tracking: b.tracking(old), Log: b.logging(),
	}
	if b.mixed() {
		spec.Protocol = protocolAny
	}
	if spec.Protocol == protocolTCP {
		spec.Draining = drainTCP
		if old.Draining > 0 {
			spec.Draining = old.Draining // users may change how long connections drain
		}
	}
	if b.neg {
		spec.Groups, spec.Balancing = b.negs(), BalancingConnection
	} else {
		spec.Groups = b.groups()
	}
	if old.Scheme == b.scheme {
		for _, r := range old.Groups {
			if r.ID != "" && !slices.Contains(spec.Groups, r) {
				spec.Groups = append(spec.Groups, r)
			}
		}
	}
	slices.SortFunc(spec.Groups, stack.Ref.Compare)
	return spec
}

// spillover keeps traffic in the client's zone where the Service asks for it and
// the configuration allows it; external load balancers cannot.
// Source: kubernetes/ingress-gce:pkg/flags/flags.go (enable-l4ilb-zonal-affinity).
func (b *builder) spillover() string {
	d := b.in.Service.Spec.TrafficDistribution
	if b.in.Config.ZonalAffinity && b.scheme == SchemeInternal && d != nil && (*d == corev1.ServiceTrafficDistributionPreferClose || *d == "PreferSameZone") {
		return spillCrossZone
	}
	return spillDisabled
}

// locality is how connections are distributed over nodes: by the number of pods if the
// Service asks for it. If it no longer does, the default is restored.
func (b *builder) locality(old Backend) string {
	weighted, plain := localityWeightedRendezvous, LocalityRendezvous
	if b.scheme == SchemeExternal {
		weighted, plain = localityWeightedMaglev, localityMaglev
	}
	if weightedKey.Get(b.in.Values) {
		if b.local {
			return weighted
		}
		b.report(weightedKey.Warning(b.in.Values, "has no effect with externalTrafficPolicy Cluster, where the number of pods does not matter", "externalTrafficPolicy Local"))
	}
	if old.Locality == weighted {
		return plain
	}
	return ""
}

// tracking is strong session affinity. A backend service that has it and should not
// returns to the default.
// Source: kubernetes/ingress-gce:pkg/l4/resources/l4netlb.go (connectionTrackingPolicy).
func (b *builder) tracking(old Backend) *Tracking {
	if b.in.Kind != NetLB {
		return nil
	}
	if !strongKey.Get(b.in.Values) {
		if old.Tracking != nil && old.Tracking.Strong {
			return &Tracking{Mode: trackPerConnection}
		}
		return nil
	}
	config := b.in.Service.Spec.SessionAffinityConfig
	if problems := checkStrong(b.in); len(problems) > 0 || config == nil {
		for _, p := range problems {
			b.report(p)
		}
		return nil
	}
	return &Tracking{Mode: trackPerSession, Strong: true, IdleTimeout: int64(*config.ClientIP.TimeoutSeconds)}
}

// checkStrong refuses strong session affinity without a timeout within its bounds.
func checkStrong(in input) annotations.Problems {
	if in.Kind != NetLB || !strongKey.Get(in.Values) {
		return nil
	}
	config := in.Service.Spec.SessionAffinityConfig
	if sessionAffinity(in.Service) != affinityClientIP || config == nil || config.ClientIP == nil || config.ClientIP.TimeoutSeconds == nil ||
		*config.ClientIP.TimeoutSeconds < minStrongTimeout || *config.ClientIP.TimeoutSeconds > maxStrongTimeout {
		return annotations.Problems{strongKey.Refusal(in.Values, "needs spec.sessionAffinity ClientIP with sessionAffinityConfig.clientIP.timeoutSeconds", "a timeout from 60 to 57600 seconds")}
	}
	return nil
}

// Bounds of the idle timeout with strong affinity, in seconds.
// Source: kubernetes/ingress-gce:pkg/l4/resources/l4netlb.go.
const (
	minStrongTimeout = 60
	maxStrongTimeout = 57600

	trackPerConnection = "PER_CONNECTION"
	logNoOptional      = "EXCLUDE_ALL_OPTIONAL"
)

func (b *builder) logging() *Logging {
	rate, _, told := logRateKey.Lookup(b.in.Values)
	if !told {
		return nil
	}
	return &Logging{Enable: rate > 0, Rate: rate, Mode: logNoOptional}
}
