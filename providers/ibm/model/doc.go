// Package model is the pure half of the provider for IBM Cloud VPC: annotations,
// configuration, names, desired state, rules and flows. It performs no I/O.
//
// Start at [Cloud].
package model
