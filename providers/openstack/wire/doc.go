// Package wire talks to OpenStack: it logs in, reads what is there into the values of
// providers/openstack/model, and writes what a plan says.
//
// It decides nothing. Start at [Open].
package wire
