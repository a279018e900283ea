package reconcile

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/providers"
)

// Job is one Service to work on.
type Job struct {
	Service *corev1.Service
	// Release means that nothing is wanted any more: the Service is deleted, or
	// is no longer one of ours. Its annotations are not read.
	Release bool
	// Slices are the Service's EndpointSlices, where the cloud asks for endpoints.
	Slices []*discoveryv1.EndpointSlice
	// Unmatched are addresses that were left out of them, because no Pod of the namespace has
	// them.
	Unmatched []netip.Addr
	// NamespaceLabels are the labels of the Service's namespace, where the cloud asks for them.
	NamespaceLabels map[string]string
	// Objects are the objects that the Service refers to, where the cloud asks for them.
	Objects map[providers.Reference]providers.Object
	// Applied is the digest of the request that the last clean run recorded on the Service.
	Applied string
	// NeverProvisioned means that nothing was ever created for the Service, by us or by an
	// official controller, so that no read is needed.
	NeverProvisioned bool
	// Look requests a read nevertheless, for a plan that shows existing resources.
	Look bool
	// NothingMade means that every run so far refused the Service and wrote nothing to the
	// cloud. As long as that is so, it can miss no shared resource, and a release waits for no
	// writes of a previous process.
	NothingMade bool
	// Foreign means that another controller created the Service's load balancer, and
	// that no run of ours has recorded anything on it yet.
	Foreign bool
}
