// Package model says what a Service wants of an OpenStack cloud, in values: its
// annotations, the load balancer of Octavia with all that is below it, a floating IP,
// and the rules by which wanted and found are compared.
//
// It talks to nothing; providers/openstack/wire does. Start at [Cloud], the table of contents, then [Build].
package model
