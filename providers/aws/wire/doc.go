// Package wire calls the APIs of AWS: it finds credentials, reads existing resources
// into the values of providers/aws/model, and applies plans.
//
// It decides nothing. Start at [Open].
package wire
