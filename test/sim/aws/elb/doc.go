// Package elb simulates the Classic Elastic Load Balancing API, version
// 2012-06-01: its operations with their rules, limits, defaults and error
// codes, as its service model, API reference and user guide tell them.
//
// It moves no traffic; the health of an instance follows from its state, its
// zone and a delay. It does not throttle, inject faults or keep a journal; the
// assembled cloud does that around the query.Service given here.
//
// Start with New, then operations in api.go.
package elb
