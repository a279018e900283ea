// Package health knows whether the process works: whether its workers get on,
// and whether it is ready.
//
// The loop and the observer of cloud calls tell it what happens; it asks nobody
// but for one read of the cloud, when somebody wants to know whether the process
// is ready and the cloud has not been asked anything yet. Start at [New].
package health
