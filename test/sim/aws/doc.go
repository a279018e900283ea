// Package aws is the AWS simulator: EC2, Classic and version 2 load balancers
// behind one URL, over HTTP and in the real wire format, good enough for the
// official controllers to run against it unmodified.
//
// It assembles; the rules of each service live in the packages ec2, elb and
// elbv2. Every call passes one way: authentication, throttle, faults, the
// operation, the journal.
//
// Start with New, then Cloud.ServeHTTP; Seed is the world it begins with.
package aws
