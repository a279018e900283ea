// Package quay simulates Quay, the small cloud of test/quay: load balancers with
// listeners and machines, and openings by which a whole cluster admits a protocol.
//
// Creations are work requests, a load balancer is busy for a while after each
// change, lists come in pages, and refusals have status 200. Start with New.
package quay
