// Package quay is a cloud in small, whole: the template of a new provider. Like
// each real one it has two halves: model decides and does no I/O, wire talks to
// the API and decides nothing. docs/adding-a-cloud.md walks through it.
//
// Quay's API has what makes real APIs hard: load balancers are created by work
// requests, are busy after each change, are listed in pages, and refusals have
// status 200. Its simulator is test/sim/quay. Start at [Cloud].
package quay
