// Package status computes what users see of a load balancer: addresses,
// conditions and event reasons, and the one patch that writes them.
//
// Everything is a value first. A provider answers a Result; the loop puts it
// with conditions, finalizers and annotations into a Want; Patch compares that
// with the Service as last seen and answers the bytes to send, or that there is
// nothing to send. The package must not talk to an API server, read the clock
// or know a provider. Reasons of conditions and events are closed lists here
// and nowhere else, so that Reference can print them all.
//
// Start with Result in result.go and Patch in patch.go.
package status
