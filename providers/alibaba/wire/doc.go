// Package wire is the half of the provider for Alibaba Cloud that talks to the cloud: sessions,
// reads and writes.
//
// Start at [Open].
package wire
