package service

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	servicehelper "k8s.io/cloud-provider/service/helpers"

	"github.com/berth-lb/berth/providers"
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
	// ReleaseUnclaimed releases Services without a class that we served before
	// Default was switched off. It never concerns a class: another installation
	// of this program may serve that, with the same finalizer.
	ReleaseUnclaimed bool
	// Installation tells several installations in one cluster apart, such as by the
	// Lease that each has. It is recorded on what is served: Services without a class
	// that another one serves are none of our business. Empty: there is only one.
	Installation string
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
	switch {
	case !known && !wants && slices.Contains(svc.Finalizers, OwnFinalizer):
		return releasedIf(len(c.Names) > 0) // the API server has cleared the class, and nobody knows it
	case !known:
		recorded = class // an official controller made it
	}
	if !wants || class != recorded {
		return releasedIf(c.ours(recorded)) // else another installation served it and will release it
	}
	switch {
	case c.ours(class): // it is being deleted
		return Released
	case class != "", c.servedElsewhere(svc):
		return Ignored
	case c.ReleaseUnclaimed:
		return Released
	default:
		return Disowned
	}
}

func releasedIf(ours bool) Claim {
	if ours {
		return Released
	}
	return Ignored
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

// hasFinalizer tells whether the Service carries a finalizer of ours.
func (c Classes) hasFinalizer(svc *corev1.Service) bool { return len(c.finalizers(svc)) > 0 }

// finalizers lists those on the Service that are ours to take off. The stock one
// is every controller's: it is ours if we recorded that we served the Service
// without a class, or if Services without a class are ours and this is one.
func (c Classes) finalizers(svc *corev1.Service) []string {
	_, recorded, known := ParseApplied(svc)
	stock := known && recorded == "" || !known && c.Default && svc.Spec.LoadBalancerClass == nil
	return slices.DeleteFunc(slices.Clone(svc.Finalizers), func(f string) bool {
		return f != OwnFinalizer && (f != StockFinalizer || !stock)
	})
}

// releasedWant is what a Service is to carry when nothing of ours is left. The
// addresses of one that has moved to another controller are that one's.
func (c Classes) releasedWant(svc *corev1.Service, outputs providers.Outputs, now time.Time) status.Want {
	want := status.Released(now, append(c.finalizers(svc), outputs.Finalizers...)...)
	want.Outputs = map[string]string{}
	for _, key := range outputs.Annotations {
		want.Outputs[key] = ""
	}
	_, recorded, known := ParseApplied(svc)
	if class, wants := classOf(svc); wants && svc.DeletionTimestamp == nil && !c.ours(class) && known && recorded != class {
		want.LoadBalancer = nil
	}
	return want
}

// Applied is the value of the annotation that records the last clean run: the
// digest of its input and the class of the Service then.
func Applied(svc *corev1.Service, digest string) string {
	class, _ := classOf(svc)
	return digest + ";class=" + class
}

// AppliedBy is Applied with the name of who serves the Service, by which the others
// know that they do not.
func AppliedBy(svc *corev1.Service, digest, installation string) string {
	return Classes{Installation: installation}.applied(svc, digest)
}

// servedBy stands between digest and installation in the record.
const servedBy = ";by="

// applied is the record with the name of the installation.
func (c Classes) applied(svc *corev1.Service, digest string) string {
	if c.Installation != "" {
		digest += servedBy + c.Installation
	}
	return Applied(svc, digest)
}

// servedElsewhere tells whether another installation has served the Service last.
func (c Classes) servedElsewhere(svc *corev1.Service) bool {
	head, _, _ := strings.Cut(svc.Annotations[status.AnnotationApplied], ";class=")
	_, by, known := strings.Cut(head, servedBy)
	return known && c.Installation != "" && by != c.Installation
}

// ParseApplied reads the record back; false if there is none.
func ParseApplied(svc *corev1.Service) (digest, class string, ok bool) {
	value, ok := svc.Annotations[status.AnnotationApplied]
	if !ok {
		return "", "", false
	}
	head, class, ok := strings.Cut(value, ";class=")
	digest, _, _ = strings.Cut(head, servedBy)
	return digest, class, ok
}
