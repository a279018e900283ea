// Package simtest starts the AWS simulator for a test, with a client
// configuration that points at it.
//
// It holds no rules and asserts nothing.
//
// Start with Start.
package simtest
