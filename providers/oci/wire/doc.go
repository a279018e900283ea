// Package wire talks to Oracle Cloud: it signs calls, reads what is there into the
// values of providers/oci/model, and writes what a plan says.
//
// It decides nothing. Start at [Open].
package wire
