// Package model is the pure half of Quay: annotations, configuration, desired
// stacks, rules of change, traffic and status. It does no I/O. Start at [Cloud].
package model
