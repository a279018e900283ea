package service

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	servicehelper "k8s.io/cloud-provider/service/helpers"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/status"
)

// OwnFinalizer is ours on Services with a class. The stock finalizer must never
// be put on those: the stock service controller, wherever it runs, processes
// the deletion of every Service that carries it, whatever its class.
const OwnFinalizer = status.Prefix + "load-balancer"

// StockFinalizer is the finalizer of the official controllers with the stock service controller on
// Services without a class, and therefore of a drop-in. Others are in Classes.Official.
const StockFinalizer = servicehelper.LoadBalancerCleanupFinalizer

// Claim is the relation of the program to a Service.
type Claim int

const (
	// Ignored Services are not ours and are not touched in any way.
	Ignored Claim = iota
	// Served Services get a load balancer.
	Served
	// Released Services were ours and are no longer: all their resources are deleted.
	Released
	// Disowned Services are no longer ours only because our own flags changed: nothing
	// is done without --release-unclaimed.
	Disowned
)

// Classes determines which Services are ours.
type Classes struct {
	// Default claims Services without a class, as a cloud-controller-manager does.
	Default bool
	// Names are the values of spec.loadBalancerClass that are ours.
	Names []string
	// ReleaseUnclaimed releases Services without a class that we served before
	// Default was switched off. It never concerns a class: another installation
	// of this program may serve that, with the same finalizer.
	ReleaseUnclaimed bool
	// Installation distinguishes several installations in one cluster, such as by their
	// Leases. It is recorded on served Services: Services without a class that another
	// one serves are ignored. Empty: there is only one.
	Installation string
	// Official are the finalizers of the official controllers that hold Services of
	// their classes, or without one, for us as well; see providers.Outputs.
	Official map[string][]string
}

// Claim determines the claim on a Service. It depends only on type, class,
// finalizers, deletion and the record on the Service.
func (c Classes) Claim(svc *corev1.Service) Claim {
	class, wants := classOf(svc)
	if wants && svc.DeletionTimestamp == nil && c.ours(class) {
		return Served
	}
	if !c.hasFinalizer(svc) {
		return Ignored
	}
	record, known := RecordOf(svc)
	recorded := record.Class
	switch {
	case !known && !wants && slices.Contains(svc.Finalizers, OwnFinalizer):
		return releasedIf(len(c.Names) > 0) // the API server has cleared the class, and it is unknown
	case !known:
		recorded = class // an official controller created it
	}
	if !wants || class != recorded {
		return releasedIf(c.ours(recorded)) // else another installation served it and will release it
	}
	switch {
	case c.ours(class): // it is being deleted
		return Released
	case class != "", c.servedElsewhere(record):
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

// classOf returns the class ("" for none) and whether the Service requests a load
// balancer at all. The API server clears the class when the type changes.
func classOf(svc *corev1.Service) (class string, wants bool) {
	if svc.Spec.LoadBalancerClass != nil {
		class = *svc.Spec.LoadBalancerClass
	}
	return class, svc.Spec.Type == corev1.ServiceTypeLoadBalancer
}

// FinalizerFor returns the finalizer that a Service gets when it is served.
func FinalizerFor(svc *corev1.Service) string {
	if svc.Spec.LoadBalancerClass != nil {
		return OwnFinalizer
	}
	return StockFinalizer
}

// hasFinalizer reports whether the Service carries a finalizer that holds it for us.
func (c Classes) hasFinalizer(svc *corev1.Service) bool {
	return len(c.finalizers(svc)) > 0 || c.heldOfficially(svc)
}

// heldOfficially reports whether an official finalizer of the class that the Service was
// served under holds it for us.
func (c Classes) heldOfficially(svc *corev1.Service) bool {
	class, _ := classOf(svc)
	if record, known := RecordOf(svc); known {
		class = record.Class
	}
	return (class != "" || c.serveClassless(svc)) && c.keptOfficially(svc, class, nil)
}

// keptOfficially reports whether the Service has, or is about to get, an official
// finalizer of a class: with it the official controller of that class, or of Services without
// one, can release the Service if it takes over again.
func (c Classes) keptOfficially(svc *corev1.Service, class string, soon []string) bool {
	return slices.ContainsFunc(c.Official[class], func(f string) bool {
		// A Service in deletion gets no finalizer any more.
		return slices.Contains(svc.Finalizers, f) || svc.DeletionTimestamp == nil && slices.Contains(soon, f)
	})
}

// finalizers returns the finalizers of the Service that we may remove. The stock one
// belongs to every controller.
func (c Classes) finalizers(svc *corev1.Service) []string {
	return slices.DeleteFunc(slices.Clone(svc.Finalizers), func(f string) bool {
		return f != OwnFinalizer && (f != StockFinalizer || !c.serveClassless(svc))
	})
}

// serveClassless reports whether what holds a Service without a class holds it for us: we
// recorded that we served it without a class, or Services without a class are ours and
// this is one.
func (c Classes) serveClassless(svc *corev1.Service) bool {
	record, known := RecordOf(svc)
	return known && record.Class == "" || !known && c.Default && svc.Spec.LoadBalancerClass == nil
}

// servedElsewhere reports whether another installation has served the Service last.
func (c Classes) servedElsewhere(r Record) bool {
	return r.By != "" && c.Installation != "" && r.By != c.Installation
}

// releasedWant returns the Want of a Service without resources of ours. A Service that
// has moved to another controller keeps the addresses that that one wrote after our
// last ones.
func (c Classes) releasedWant(svc *corev1.Service, outputs providers.Outputs, r release) status.Want {
	want := ReleasedMarks(outputs, c.finalizers(svc)...)
	want.Now = r.now
	if c.isServedByOther(svc, r.elsewhere) && svc.DeletionTimestamp == nil && !equality.Semantic.DeepEqual(svc.Status.LoadBalancer.Ingress, r.written) {
		want.LoadBalancer = nil
	}
	return want
}

// isServedByOther reports whether another controller serves a Service that is released here, by its class
// or because of its annotations.
func (c Classes) isServedByOther(svc *corev1.Service, elsewhere bool) bool {
	record, known := RecordOf(svc)
	class, wants := classOf(svc)
	return elsewhere || wants && !c.ours(class) && known && record.Class != class
}

// ReleasedMarks returns the Want of a Service without resources of ours: without our
// finalizers, other outputs and addresses.
func ReleasedMarks(outputs providers.Outputs, finalizers ...string) status.Want {
	want := status.Released(time.Time{}, append(finalizers, outputs.Finalizers...)...)
	want.Outputs = map[string]string{}
	for _, key := range outputs.Annotations {
		want.Outputs[key] = ""
	}
	want.Labels = map[string]string{}
	for _, key := range outputs.Labels {
		want.Labels[key] = ""
	}
	return want
}

// release is the input of a release besides the Service.
type release struct {
	now       time.Time
	elsewhere bool                         // the Service requests another controller
	written   []corev1.LoadBalancerIngress // the addresses that we wrote last, if known
}
