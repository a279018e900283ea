// Package azure implements load balancers for Services: Standard ones, public and
// internal, or public ones of the SKU Service. It replaces the service controller of
// cloud-provider-azure: same names, tags, annotations and cloud configuration,
// so that existing resources are adopted unchanged.
//
// All Services share one load balancer of each kind, one pool per IP family and
// one network security group. The resources of one Service; ">" points to the resource
// that is referred to, and parts of a resource are indented:
//
//	load-balancer                        <cluster>, <cluster>-internal: never one Service's
//	    load-balancer-entries            frontends a<uid>, rules and probes a<uid>-TCP-80   > public-ip
//	    backend-pool                     <cluster>, <cluster>-IPv6; shared by all Services
//	    pool-nics, pool-scale-set        machines in it (mode nodeIPConfiguration)          > backend-pool
//	public-ip                            <cluster>-a<uid>, or the user's
//	    public-ip-binding                tag of the Service, DNS label
//	network-security-group               of the cluster, never ours
//	    security-rule-entry              one destination of a rule k8s-azure-lb_...; shared
//	private-link-service                 pls-a<uid>       > load-balancer-entries, subnet-policy
//	subnet-policy                        shared, never undone
//
// Where pools are of pods (files named _pods) every Service has its own, and the
// gateway of the cluster sends to its pods:
//
//	container-load-balancer              <uid>                                              > container-public-ip
//	container-public-ip                  <uid>-pip
//	service-gateway                      of the cluster, never ours
//	    gateway-service                  <uid>
//	    gateway-service-pool             in the gateway-service                             > container-load-balancer
//	    gateway-addresses                addresses of pods by those of nodes                > gateway-service
//
// The load balancer and the security group are written whole, once for many
// Services: the edits of all of them are applied to the object as just read, and
// all other content is written back unchanged. No object or entry is written
// that is not proven to be the Service's: the name holds the UID, or tags name the
// Service.
//
// What a Service wants is in model, what talks to the cloud in wire; this package
// joins them.
package azure
