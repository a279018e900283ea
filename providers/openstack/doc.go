// Package openstack is the provider of OpenStack clouds with Octavia: what a Service
// wants is in model, what talks to the cloud in wire. This package joins them.
package openstack
