// Package wire talks to Azure: it logs in, reads what is there into the values of
// providers/azure/model, and writes what a plan says.
//
// It decides nothing. Start at [Open].
package wire
