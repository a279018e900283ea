// Package wire makes the calls to Azure: it logs in, reads the observed state into the
// values of providers/azure/model, and applies the steps of a plan.
//
// It decides nothing. Start at [Open].
package wire
