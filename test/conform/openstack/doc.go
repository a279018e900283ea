// Package conform runs the official controller of OpenStack,
// openstack-cloud-controller-manager, unmodified and as a process, against the same
// simulated cloud and the same real API server as Berth, and lets the two hand load
// balancers to each other.
//
// The program is built in the module official, as it was released. Nothing of the
// product may import the official code.
//
// Start at TestConform. The Services are in testdata, one folder per cloud
// configuration: services.yaml, cloudsim.flags with flags of the simulator, and
// global.conf with sections and keys of the configuration: an empty value takes a key
// out.
package conform
