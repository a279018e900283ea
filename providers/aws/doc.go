// Package aws makes Classic and Network Load Balancers out of Services. It takes
// the place of the service controller of cloud-provider-aws: same names, tags,
// annotations and cloud configuration, so load balancers that are there already
// are taken over as they are. The kinds of the AWS Load Balancer Controller are
// recognised and left to it.
//
// What one Service has, kind clb (a Classic Load Balancer) and kind nlb (a
// Network Load Balancer); ">" points to what a thing refers to, indented is what
// is part of another:
//
//	security-group                       k8s-elb-a<uid>
//	    security-group-ingress           clients on the ports
//	classic-load-balancer                a<uid>           > security-group, subnets
//	    classic-listener 80              made in the same call
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
// What a Service wants is in model, what talks to the cloud in wire; this package
// joins them. Nothing is written that cannot be proven to be the Service's: the
// name holds the UID, or tags or descriptions name the Service.
package aws
