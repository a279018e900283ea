// Package openstack simulates the part of an OpenStack cloud that load balancers
// need: Keystone, Octavia, Neutron, and the reads of Barbican and Nova, over HTTP.
//
// One generic store holds all objects as JSON documents; what an API does with them is
// in the files named after it. Octavia's load balancers take their time: a write is
// accepted, its load balancer is PENDING for a while, and other writes to it are
// refused meanwhile. Answers were compared with those of the servers themselves.
//
// Start at [New].
package openstack
