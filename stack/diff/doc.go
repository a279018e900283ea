// Package diff compares the desired with the observed stack and computes the plan.
//
// It is pure: rules per kind define which fields cannot change in place, which are
// sets, which are sent in one call and which resources exist with their parent; the
// order of the steps follows from references, slots and the few edges of the rule
// table, each of which carries its reason. Start at [Rule], then [Compare].
package diff
