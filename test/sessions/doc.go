// Package sessions holds the common parts of the session tests of several clouds: they read
// the existing resources of Services, plan from them, run the plan, and delete orphans, with
// a simulator that the test can read and change.
//
// Start with Rig.
package sessions
