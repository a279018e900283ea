// Package wire calls the APIs of Google Cloud: it finds credentials, reads existing
// resources into the values of providers/gce/model, and applies plans.
//
// It decides nothing. Start at [Open].
package wire
