// Package engine runs plans: every step as soon as its dependencies are complete,
// several at a time, and steps that can share a call together, across Services.
//
// A failed step skips only the steps that need it. Nothing is repeated here: a failure
// is reported, and the next run plans again from the state that is known by then. The
// engine is independent of clouds; it passes batches to a function. Start at [Engine.Run].
package engine
