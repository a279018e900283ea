// Package simtest starts the IBM Cloud simulator for a test.
//
// It holds no rules and asserts nothing.
//
// Start with Start.
package simtest
