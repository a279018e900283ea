// Package ibm serves Services with load balancers of IBM Cloud VPC. Start at [Cloud].
package ibm
