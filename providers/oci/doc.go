// Package oci serves Services with load balancers of Oracle Cloud: the Load Balancer
// and the Network Load Balancer. Start at [Cloud].
//
// It is in no list of clouds yet: the program does not offer it. What it lacks is TLS at
// the load balancer, since contents of Secrets are not read (a Service that asks for it
// is refused), reserved addresses of IPv6 and reserved private ones, the search for
// orphans, and the look-up of region and compartment in the machine's metadata.
package oci
