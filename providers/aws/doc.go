// Package aws creates Classic and Network Load Balancers for Services. It replaces
// the service controller of cloud-provider-aws: same names, tags, annotations and
// cloud configuration, so existing load balancers are taken over unchanged. The
// kinds of the AWS Load Balancer Controller are recognised and left to it.
//
// The resources of one Service, kind clb (a Classic Load Balancer) and kind nlb (a
// Network Load Balancer); ">" points to a referenced resource, indented
// resources are part of the one above:
//
//	security-group                       k8s-elb-a<uid>
//	    security-group-ingress           clients on the ports
//	classic-load-balancer                a<uid>           > security-group, subnets
//	    classic-listener 80              created in the same call
//	        classic-listener-policies    > classic-policy k8s-SSLNegotiationPolicy-...
//	    classic-policy                   PROXY protocol, TLS policy
//	    classic-backend-policies 31080   > classic-policy k8s-proxyprotocol-enabled
//	    classic-attributes, classic-health-check, classic-instances
//	node-security-group                  of the nodes, never ours
//	    node-security-group-rule         all from the load balancer > security-group
//
//	security-group nlb                   k8s-<ns>-<name>-<hash>, only in mode Managed
//	    security-group-ingress           clients on the ports
//	network-load-balancer                a<uid>           > security-group nlb, subnets
//	    network-attributes
//	    listener tcp-80                  > target-group tcp-80
//	target-group tcp-80                  k8s-<ns>-<name>-<hash>
//	    targets, target-group-attributes
//	node-security-group                  of the nodes, never ours
//	    node-security-group-rule         clients, health checks, ICMP; shared by all Services
//
// Package model computes the desired state, package wire calls the cloud; this
// package joins them. Only resources that are proven to be the Service's are written:
// the name holds the UID, or tags or descriptions name the Service.
package aws
