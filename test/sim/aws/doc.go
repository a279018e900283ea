// Package aws is the AWS simulator: EC2, Classic and version 2 load balancers
// and a little of STS behind one URL, over HTTP and in the real wire format,
// good enough for the official controllers and command line to run against it
// unmodified.
//
// It assembles; the rules of each service live in the packages ec2, elb and
// elbv2. Every call passes one way: authentication, throttle, faults, the
// operation, the journal.
//
// An operation, a filter or a field is here because the journal of a controller
// has it: of Berth, of the official controller, or of the AWS Load Balancer
// Controller for Services. So there are Classic and network load balancers and no
// others, and of EC2 there is what they stand on: security groups and their rules,
// tags, and descriptions of networks, addresses, interfaces and machines, which
// begin as the seed has them or come by Load. All else is answered with
// InvalidAction.
//
// What it takes and AWS might not: any certificate
// whose ARN is well formed (Options.ELB and Options.ELBV2 can name the only
// ones), any bucket, any token. What AWS takes and it does not: rules that are
// unknown to a group of the default VPC are refused when they are revoked.
//
// Start with New, then Cloud.ServeHTTP; Seed is the world it begins with.
package aws
