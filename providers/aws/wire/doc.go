// Package wire talks to AWS: it finds credentials, reads what is there into the values of
// providers/aws/model, and writes what a plan says.
//
// It decides nothing. Start at [Open].
package wire
