// Package sim holds what every cloud's simulator shares: the journal of calls,
// the faults that tests inject, the throttle buckets, and the control API under
// /_sim/ on the simulator's own listener.
//
// It knows no cloud and no wire format.
//
// Start with Control.
package sim
