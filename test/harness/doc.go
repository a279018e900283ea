// Package harness starts the real parts that the demo, the end-to-end tests and
// the bench share: a control plane, a cloud simulator and the controller, each
// as a process of its own on loopback.
//
// It must not know what any cloud makes of a Service. Start at [Start].
package harness
