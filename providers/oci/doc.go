// Package oci serves Services with load balancers of Oracle Cloud: the Load Balancer
// and the Network Load Balancer. Start at [Cloud].
package oci
