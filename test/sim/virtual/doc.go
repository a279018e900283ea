// Package virtual joins the clients of a test program with handlers in memory, and runs
// tests in virtual time: what waits costs nothing, and a slow machine changes nothing.
//
// Start at [Test] for a test body, at [Serve] for a server.
package virtual
