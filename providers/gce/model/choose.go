package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Classes of Services that the official controllers serve.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_loadbalancer.go;
// kubernetes/ingress-gce:pkg/l4/annotations/service.go.
const (
	classExternal       = "networking.gke.io/l4-regional-external"
	classInternal       = "networking.gke.io/l4-regional-internal"
	classExternalLegacy = "networking.gke.io/l4-regional-external-legacy"
	classInternalLegacy = "networking.gke.io/l4-regional-internal-legacy"
)

// Finalizers of the official controllers, by which they know what is theirs.
const (
	finalizerInternalIG  = "gke.networking.io/l4-ilb-v1"
	finalizerInternalNEG = "gke.networking.io/l4-ilb-v2"
	finalizerPool        = "gke.networking.io/l4-netlb-v1"
	finalizerNetLBIG     = "gke.networking.io/l4-netlb-v2"
	finalizerNetLBNEG    = "gke.networking.io/l4-netlb-v3"
)

// chooseKind returns the kind that a Service asks for, as far as the Service itself decides:
// by its class, the annotations and the finalizers of the controller that created its
// load balancer.
func chooseKind(svc *corev1.Service) providers.Choice {
	if class := svc.Spec.LoadBalancerClass; class != nil {
		switch *class {
		case classExternalLegacy:
			return providers.Choice{Kind: TargetPool}
		case classInternalLegacy:
			return providers.Choice{Kind: InternalIG}
		case classExternal:
			return providers.Choice{Kind: NetLB}
		case classInternal:
			return providers.Choice{Kind: InternalNEG}
		}
	}
	has := func(f string) bool { return slices.Contains(svc.Finalizers, f) }
	if wantsInternal(svc) {
		if has(finalizerInternalNEG) && !has(finalizerInternalIG) {
			return providers.Choice{Kind: InternalNEG}
		}
		return providers.Choice{Kind: InternalIG}
	}
	switch {
	case has(finalizerPool):
		return providers.Choice{Kind: TargetPool}
	case has(finalizerNetLBIG), has(finalizerNetLBNEG), optedIn(svc):
		return providers.Choice{Kind: NetLB}
	}
	return providers.Choice{Kind: TargetPool}
}

// wantsInternal reads the type annotation; its problems are reported when all annotations are
// parsed.
func wantsInternal(svc *corev1.Service) bool {
	yes, _, _ := typeKeyOf(svc.Annotations).Read("", svc.Annotations)
	return yes
}

func optedIn(svc *corev1.Service) bool {
	yes, _, _ := rbsKey.Read("", svc.Annotations)
	return yes
}

// settledBy reports whether the Service itself decides on the kind permanently: by its
// class, or by the finalizer of the controller that created its load balancer.
func settledBy(svc *corev1.Service) bool {
	if svc.Spec.LoadBalancerClass != nil {
		return true
	}
	all := []string{finalizerPool, finalizerNetLBIG, finalizerNetLBNEG}
	if wantsInternal(svc) {
		all = []string{finalizerInternalIG, finalizerInternalNEG}
	}
	return slices.ContainsFunc(svc.Finalizers, func(f string) bool { return slices.Contains(all, f) })
}

// kindOf is the kind of load balancer that the Service gets, given the existing
// resources: a live one is never moved from one kind to another of the same scheme,
// because that would cut its clients off. Without one, the configuration decides on what
// the Service leaves open.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_util.go (shouldProcessNetLB);
// kubernetes/ingress-gce:pkg/l4/controllers/l4netlbcontroller.go.
func kindOf(in input, have *stack.Stack) string {
	if settledBy(in.Service) && !mayHavePool(in.Service) {
		return in.Kind
	}
	if found := kindFound(in.Kind, have); found != "" {
		return found
	}
	switch {
	case in.Kind == InternalIG && in.Config.Subsetting:
		return InternalNEG
	case in.Kind == TargetPool && in.Config.NetLBDefault:
		return NetLB
	}
	return in.Kind
}

// mayHavePool reports whether a Service may have a live target pool although it carries
// the finalizer of the newer kind: both official controllers have met this case, and
// older ones wrote no finalizer of their own. The live resource decides then.
// Source: kubernetes/ingress-gce:pkg/l4/controllers/l4netlbcontroller.go (hasTargetPoolForwardingRule).
func mayHavePool(svc *corev1.Service) bool {
	newer := slices.Contains(svc.Finalizers, finalizerNetLBIG) || slices.Contains(svc.Finalizers, finalizerNetLBNEG)
	return svc.Spec.LoadBalancerClass == nil && !wantsInternal(svc) && newer && !slices.Contains(svc.Finalizers, finalizerPool)
}

// kindFound is the kind that what was found has, if it is of the same scheme as
// the chosen one. The oldest name decides: a<uid>, if a rule has it.
func kindFound(chosen string, have *stack.Stack) string {
	external := schemeOf(chosen) == SchemeExternal
	for _, r := range have.Of(RuleKind(schemeOf(chosen))) {
		if r.Proof == stack.None {
			continue
		}
		rule, _ := r.Spec.(Rule)
		switch {
		case external && !rule.Target.IsZero():
			return TargetPool
		case external && !rule.Backend.IsZero():
			return NetLB
		case !external && r.Key.Name == ruleIPv4:
			return InternalIG
		case !external:
			return InternalNEG
		}
	}
	return partFound(chosen, have)
}

// partFound is the kind of which a part exists although no rule does: a rule that is
// being replaced, or half of a creation.
func partFound(chosen string, have *stack.Stack) string {
	is := func(k stack.Key) bool { r, ok := have.Get(k); return ok && r.Proof != stack.None }
	scheme := func(key string) string {
		b, _ := stack.SpecOf[Backend](have, stack.Key{Kind: KindBackend, Name: key})
		return b.Scheme
	}
	switch {
	case schemeOf(chosen) == SchemeExternal:
		if is(stack.Key{Kind: KindPool}) {
			return TargetPool
		}
		if scheme(keyV2) == SchemeExternal {
			return NetLB
		}
	case scheme(keyLegacy) == SchemeInternal:
		return InternalIG
	case scheme(keyV2) == SchemeInternal:
		return InternalNEG
	}
	return ""
}

// withEffectiveKind puts the kind into the input; if it is another than the Service
// chose, the annotations are read again as those of that kind.
func withEffectiveKind(in input, have *stack.Stack) input {
	kind := kindOf(in, have)
	if kind != in.Kind {
		in.Kind = kind
		in.Values, _ = Annotations().Parse(kind, annotations.SourceOf(in.Service))
	}
	return in
}
