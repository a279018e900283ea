// Package conform runs the official controller of Azure,
// kubernetes-sigs/cloud-provider-azure, unmodified and as a process, against the
// same simulated cloud and the same real API server as Berth, and lets the two hand
// load balancers to each other.
//
// The program is built in the module official, as it was released. Nothing of the
// product may import the official code. What newer releases read otherwise, such as
// internal Services that are open to all, is not in testdata; nor is a Service of one
// family without floating addresses beside nodes of both, whose rules depend there on
// the order of all Services.
//
// Start at TestConform. The Services are in testdata, one folder per cloud
// configuration: services.yaml, cloudsim.flags with flags of the simulator, and
// global.conf with keys of the configuration, as JSON, that differ.
package conform
