// Package gce creates passthrough load balancers of Google Cloud for Services. It
// replaces the service controller of cloud-provider-gcp and the L4 controllers of
// ingress-gce: same names, descriptions, annotations, finalizers and cloud
// configuration, so existing load balancers are taken over unchanged.
//
// The resources of one Service; ">" points to a referenced resource:
//
//	kind target-pool, external
//	    external-forwarding-rule a<uid>   > target-pool a<uid>  > http-health-check, instances
//	kind netlb-rbs, external
//	    external-forwarding-rule a<uid>   > backend-service k8s2-...  > regional-health-check,
//	                                        instance-group k8s-ig--... or network-endpoint-group k8s2-...
//	kind ilb-ig, internal
//	    internal-forwarding-rule a<uid>   > backend-service a<uid>  > health-check, instance-group k8s-ig--...
//	kind ilb-neg, internal
//	    internal-forwarding-rule k8s2-... > backend-service k8s2-...  > health-check, network-endpoint-group k8s2-...
//	every kind
//	    firewall                clients to the load balancer's IP and ports
//	    health-check-firewall   Google's probers to the nodes
//	    deny-firewall           only if configured: everything else to the IP
//	    address                 only while a rule is replaced or two rules get one IP
//
// Instance groups, and the checks of Services whose traffic policy is Cluster
// with their firewalls, are shared by the Services of the cluster and deleted with
// the last one.
//
// Package model computes the desired state, package wire calls the cloud; this
// package joins them. No object is written whose name is neither the Service's nor the
// cluster's.
package gce
