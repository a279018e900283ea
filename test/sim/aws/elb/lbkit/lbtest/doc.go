// Package lbtest helps the tests of both load balancer simulators: a small fixed
// network, and a server that runs one service on a given clock.
//
// It is for tests of those packages only; whole clouds are assembled elsewhere.
//
// Start with World and Serve.
package lbtest
