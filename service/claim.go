package service

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	servicehelper "k8s.io/cloud-provider/service/helpers"

	"github.com/berth-lb/berth/status"
)

// OwnFinalizer is ours on Services with a class. The stock finalizer must never
// be put on those: the stock service controller, wherever it runs, processes
// the deletion of every Service that carries it, whatever its class.
const OwnFinalizer = status.Prefix + "load-balancer"

// StockFinalizer is what every official controller uses on Services without a
// class, and therefore what a drop-in uses there.
const StockFinalizer = servicehelper.LoadBalancerCleanupFinalizer

// Claim is what a Service is to us.
type Claim int

const (
	// Ignored Services are not ours and are not touched in any way.
	Ignored Claim = iota
	// Served Services get a load balancer.
	Served
	// Released Services were ours and are not any more: all that is theirs goes.
	Released
	// Disowned Services were ours and are not any more only because our own
	// flags changed: nothing is done until --release-unclaimed.
	Disowned
)

// Classes says which Services are ours.
type Classes struct {
	// Default claims Services without a class, as a cloud-controller-manager does.
	Default bool
	// Names are the values of spec.loadBalancerClass that are ours.
	Names []string
	// ReleaseUnclaimed releases what our own flags disowned.
	ReleaseUnclaimed bool
}

// Claim decides what a Service is to us. It looks at nothing but type, class,
// finalizers, deletion and what was recorded on the Service.
func (c Classes) Claim(svc *corev1.Service) Claim {
	class, wants := classOf(svc)
	if wants && svc.DeletionTimestamp == nil && c.ours(class) {
		return Served
	}
	if !c.hasFinalizer(svc) {
		return Ignored
	}
	_, recorded, known := ParseApplied(svc)
	if !known {
		recorded = class // an official controller made it, or we never finished: classless unless it says otherwise
	}
	switch {
	case wants && class == recorded:
		return c.unserved(class)
	case !c.ours(recorded):
		return Ignored // another installation of ours served it and will release it
	default:
		return Released
	}
}

// unserved is the claim on a Service with our finalizer that still wants a load
// balancer of the class it always had, but is deleted or not served here.
func (c Classes) unserved(class string) Claim {
	switch {
	case c.ours(class): // it is being deleted
		return Released
	case c.ReleaseUnclaimed:
		return Released
	case class == "":
		return Disowned
	default:
		return Ignored
	}
}

func (c Classes) ours(class string) bool {
	if class == "" {
		return c.Default
	}
	return slices.Contains(c.Names, class)
}

// classOf returns the class ("" for none) and whether the Service wants a load
// balancer at all. The API server clears the class when the type changes away.
func classOf(svc *corev1.Service) (class string, wants bool) {
	if svc.Spec.LoadBalancerClass != nil {
		class = *svc.Spec.LoadBalancerClass
	}
	return class, svc.Spec.Type == corev1.ServiceTypeLoadBalancer
}

// FinalizerFor is the finalizer that a Service gets when it is served.
func FinalizerFor(svc *corev1.Service) string {
	if svc.Spec.LoadBalancerClass != nil {
		return OwnFinalizer
	}
	return StockFinalizer
}

// hasFinalizer tells whether the Service carries a finalizer that can be ours.
// The stock one is ours only where Services without a class are.
func (c Classes) hasFinalizer(svc *corev1.Service) bool {
	if slices.Contains(svc.Finalizers, OwnFinalizer) {
		return true
	}
	return svc.Spec.LoadBalancerClass == nil && slices.Contains(svc.Finalizers, StockFinalizer)
}

// Applied is the value of the annotation that records the last clean run: the
// digest of its input and the class of the Service then.
func Applied(svc *corev1.Service, digest string) string {
	class, _ := classOf(svc)
	return digest + ";class=" + class
}

// ParseApplied reads the record back; false if there is none.
func ParseApplied(svc *corev1.Service) (digest, class string, ok bool) {
	value, ok := svc.Annotations[status.AnnotationApplied]
	if !ok {
		return "", "", false
	}
	digest, class, ok = strings.Cut(value, ";class=")
	return digest, class, ok
}
