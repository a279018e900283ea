package offline

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
)

// Left is a Service that is not ours to work on, and why.
type Left struct {
	Owner stack.Owner `json:"owner"`
	Why   string      `json:"why"` // read after the name of the Service
}

// chooser is Cloud.Choose of a provider.
type chooser func(*corev1.Service) providers.Choice

// claimItem decides as the controller would, and returns its job. Exactly one of job and
// why is set; both are empty for Services of a cluster that are not expected in a
// plan.
func claimItem(item Item, classes service.Classes, choose chooser, outputs providers.Outputs) (job *reconcile.Job, why string) {
	svc := item.Service
	switch classes.Claim(svc) {
	case service.Released:
		return &reconcile.Job{Service: svc, Release: true}, ""
	case service.Disowned:
		return nil, "was served by this controller and no longer is, because of the controller's own flags; its load balancer stays until --release-unclaimed"
	case service.Ignored:
		return nil, explainIgnored(item)
	}
	if choice := choose(svc); choice.Elsewhere != "" {
		if _, served := service.RecordOf(svc); served {
			return &reconcile.Job{Service: svc, Release: true}, "" // moved by the user: its resources are deleted
		}
		return nil, choice.Elsewhere
	}
	return service.JobOf(svc, outputs), ""
}

// explainIgnored returns the reason why a Service is not served.
func explainIgnored(item Item) string {
	spec := item.Service.Spec
	switch {
	case spec.Type != corev1.ServiceTypeLoadBalancer && item.Written:
		return fmt.Sprintf("is of type %s, not LoadBalancer", spec.Type)
	case spec.Type != corev1.ServiceTypeLoadBalancer:
		return "" // most Services of a cluster
	case item.Service.DeletionTimestamp != nil:
		return "is being deleted and has nothing of ours"
	case spec.LoadBalancerClass != nil:
		return fmt.Sprintf("spec.loadBalancerClass %q is not one that is served here (see --load-balancer-class)", *spec.LoadBalancerClass)
	default:
		return "has no spec.loadBalancerClass, and Services without one are not served here (--default-class=false)"
	}
}
