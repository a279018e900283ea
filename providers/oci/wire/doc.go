// Package wire makes the calls to Oracle Cloud: it signs them, reads the observed state
// into the values of providers/oci/model, and applies the steps of a plan.
//
// It decides nothing. Start at [Open].
package wire
