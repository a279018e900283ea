// Package diff compares what is wanted with what was found and makes the plan.
//
// It is pure: rules per kind say which fields cannot change in place, which are
// sets, what goes in one call and what exists with its parent; the order of the
// steps follows from references, slots and the few edges of the rule table,
// each of which carries its reason. Start at [Rule], then [Compare].
package diff
