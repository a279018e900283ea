// Package model is the pure half of the provider for Tencent Cloud: annotations, names, desired
// stacks and rules of change. It performs no I/O.
//
// Start at [Cloud].
package model
