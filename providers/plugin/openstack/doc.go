// Package openstack registers Berth for OpenStack with k8s.io/cloud-provider, as the providers
// of others do: a blank import is all that a cloud-controller-manager needs.
//
// The import runs an init function, which is what the registry of Kubernetes asks
// for. It must therefore be imported by programs alone, and not by one that also
// imports another provider of the name "openstack": the second registration ends the
// process. Options come from the environment; who wants to say them in code, or to
// choose at run time, calls plugin.Register instead of importing this package.
package openstack
