// Package official pins openstack-cloud-controller-manager, the official controller
// of OpenStack, as kubernetes/cloud-provider-openstack released it: go.mod's tool
// line names its main package.
//
// It is a module of its own, apart even from the test that runs it, so that the
// program is linked with the versions of its own release.
package official
