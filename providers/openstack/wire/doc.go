// Package wire makes the calls to OpenStack: it logs in, reads the observed state into the
// values of providers/openstack/model, and applies the steps of a plan.
//
// It decides nothing. Start at [Open].
package wire
