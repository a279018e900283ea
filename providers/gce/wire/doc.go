// Package wire talks to Google Cloud: it finds credentials, reads what is there into
// the values of providers/gce/model, and writes what a plan says.
//
// It decides nothing. Start at [Open].
package wire
