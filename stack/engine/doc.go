// Package engine runs plans: every step as soon as what it needs is done,
// several at a time, and steps that can share a call together, across Services.
//
// A failed step skips only what needs it. Nothing is repeated here: what failed
// is reported, and the next run plans again from what is known by then. The
// engine knows no cloud; it hands batches to a function. Start at [Engine.Run].
package engine
