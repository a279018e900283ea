// Package quay is a small cloud, whole: what a new provider begins with. It is not
// built into the program; its tests hold it against every property that the real
// clouds have. docs/adding-a-cloud.md walks through it.
//
// Quay has load balancers with listeners, and one list of machines behind each. All
// Services of a cluster share openings, which let a protocol in to its machines.
//
// Start with Cloud in cloud.go, then build.go and session.go.
package quay
