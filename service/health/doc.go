// Package health reports the health of the process: whether its workers make
// progress, and whether it is ready.
//
// The loop and the observer of cloud calls report to it. It makes no calls itself,
// except one read of the cloud when readiness is requested before the first
// call to the cloud. Start at [New].
package health
