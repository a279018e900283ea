// Package aws is the AWS simulator: EC2, Classic and version 2 load balancers
// and a little of STS behind one URL, over HTTP and in the real wire format,
// good enough for the official controllers and command line to run against it
// unmodified.
//
// It assembles; the rules of each service live in the packages ec2, elb and
// elbv2. Every call passes one way: authentication, throttle, faults, the
// operation, the journal.
//
// Both load balancer services are whole: every operation of their models is
// served. Of EC2 there is what a controller of load balancers and its tests
// touch: networks, groups and their rules, tags, addresses, interfaces, machines,
// NAT and internet gateways, prefix lists. Disks, images, launch templates, key
// pairs, endpoints, peering, network ACLs and DHCP options are not simulated, and
// their operations are answered with InvalidAction.
//
// What it takes and AWS might not: any image, any instance type, any certificate
// whose ARN is well formed (Options.ELB and Options.ELBV2 can name the only
// ones), any bucket, any token. What AWS takes and it does not: rules that are
// unknown to a group of the default VPC are refused when they are revoked.
//
// Start with New, then Cloud.ServeHTTP; Seed is the world it begins with.
package aws
