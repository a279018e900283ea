// Package status computes what users see of a load balancer: addresses,
// conditions and event reasons, and the one patch that writes them.
//
// Everything is a value first. A provider returns a Result; the loop combines it
// with conditions, finalizers and annotations in a Want; Patch compares that
// with the Service as last seen and returns the bytes to send, or that there is
// nothing to send. The package must not talk to an API server, read the clock
// or depend on a provider. Reasons of conditions and events are closed lists in this
// package only, so that Reference can print them all.
//
// Start with Result in result.go and Patch in patch.go.
package status
