// Package gce makes passthrough load balancers of Google Cloud out of Services.
// It takes the place of the service controller of cloud-provider-gcp and of the
// L4 controllers of ingress-gce: same names, descriptions, annotations,
// finalizers and cloud configuration, so load balancers that are there already
// are taken over as they are.
//
// What one Service has; ">" points to what a thing refers to:
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
// with their firewalls, are shared by the Services of the cluster and go with the
// last one.
//
// What a Service wants is in model, what talks to the cloud in wire; this package
// joins them. No object is written whose name is neither the Service's nor the
// cluster's.
package gce
