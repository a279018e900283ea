// Package conditions computes the conditions of a Service and the texts of events from
// the result of a run.
//
// Berth's loop and the stock one write them at different moments and in different
// ways, but their meaning must be the same under both. The package writes nothing.
//
// Start with Accepted and Programmed.
package conditions
