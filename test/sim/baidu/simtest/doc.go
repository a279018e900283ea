// Package simtest starts the Baidu AI Cloud simulator for a test.
//
// It holds no rules and asserts nothing.
//
// Start with Start.
package simtest
