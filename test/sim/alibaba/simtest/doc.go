// Package simtest starts the Alibaba Cloud simulator for a test.
//
// It holds no rules and asserts nothing.
//
// Start with Start.
package simtest
