// Package sessions is what tests of the sessions of several clouds do alike: they read
// what is there of Services, plan from it, run the plan, and sweep up orphans, with a
// simulator that the test can see and change.
//
// Start with Rig.
package sessions
