// Package settings are the flags that decide what the controller does with a
// Service. The controller and `berth plan` register the same ones, so that a plan is
// what the controller would do under the same words.
//
// Start with [Settings].
package settings
