// Package simtest starts the Tencent Cloud simulator for a test.
//
// It holds no rules and asserts nothing.
//
// Start with Start.
package simtest
