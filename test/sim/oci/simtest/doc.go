// Package simtest starts the Oracle Cloud simulator for a test.
//
// It holds no rules and asserts nothing.
//
// Start with Start.
package simtest
