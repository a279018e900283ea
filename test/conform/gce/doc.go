// Package conform runs the service controller of Google Cloud's own
// cloud-controller-manager, kubernetes/cloud-provider-gcp, unmodified and as a
// process, against the same simulated cloud and the same real API server as Berth,
// and lets the two hand load balancers to each other.
//
// It is a module of its own so that the official controller is a dependency of
// this test alone. The program is ccm: the usual program of k8s.io/cloud-provider
// with the official provider in it, since the official main package is not in a
// released module. Nothing of the product may import the official code.
//
// Start at TestConform. The Services are in testdata, one folder per cloud
// configuration: services.yaml, and global.conf with the keys of the
// configuration's section global that differ; a key without value is left out.
package conform
