// Package conform runs the official controller of AWS, kubernetes/cloud-provider-aws,
// unmodified and as a process, against the same simulated cloud and the same real
// API server as Berth, and lets the two hand load balancers to each other.
//
// It is a module of its own so that the official controller is a dependency of
// this test alone. The program is built from its own main package, as go.mod's
// tool line names it; the SDK has the versions that Berth needs, which are newer
// than its own. Nothing of the program may import the official code.
//
// Start at TestConform. The Services are in testdata, one folder per cloud
// configuration: services.yaml, and global.conf with what is added to the
// configuration's section Global.
package conform
