// Package simtest starts the Google Cloud simulator for a test, with the options
// that point the official clients at it.
//
// It holds no rules and asserts nothing.
//
// Start with Start.
package simtest
