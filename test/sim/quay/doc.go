// Package quay simulates Quay, the small cloud of test/quay: load balancers with
// listeners and machines, and openings by which a whole cluster lets a protocol in.
//
// Start with New.
package quay
