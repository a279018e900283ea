// Package explore runs the real loop, reconciler, engine and a cloud's session against
// the cloud's simulator in schedules that one chooser decides: who goes on, what is lost,
// refused, late or stale, who dies, and who takes over meanwhile.
//
// A schedule has no socket, no process and no sleep: requests pass through pipes in
// memory, and time is virtual. Start at [Explore]; [Run] is one schedule.
package explore
