// Package wire is the half of the provider for Baidu AI Cloud that talks to the cloud: sessions, reads
// and writes.
//
// Start at [Open].
package wire
