// Package explore runs the real loop, reconciler, engine and a cloud's session against the
// cloud's simulator in schedules that one chooser decides: which point proceeds, which
// requests are lost, refused, late or stale, which process ends, and which one takes over
// meanwhile.
//
// A schedule has no socket, no process and no sleep: requests pass through pipes in memory,
// and time is virtual. Start at [Explore]; [Run] is one schedule.
package explore
