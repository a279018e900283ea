// Package model is the half of the provider for Baidu AI Cloud that decides: keys, desired stacks, rules
// of change and flows. It makes no calls.
//
// Start at [Cloud].
package model
