// Package simtest starts the Azure simulator for a test, with the options and
// the credential that point the official SDK at it.
//
// It holds no rules and asserts nothing.
//
// Start with Start.
package simtest
