// Package model says what a Service wants of Oracle Cloud, in values: its annotations,
// the load balancer of either product with all that is in it, the rules of security
// lists and network security groups, and how wanted and found are compared.
//
// It talks to nothing; providers/oci/wire does. Start at [Cloud], the table of contents, then [Build].
package model
