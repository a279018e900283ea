// Package elbv2 simulates the Elastic Load Balancing API, version 2015-12-01:
// network and application load balancers (gateway ones in outline), target
// groups, targets and their health, listeners, rules, attributes and tags, with
// the rules, limits, defaults and error codes that the service model, the API
// reference and the user guides tell.
//
// It moves no traffic; the health of a target follows from its state, its zone,
// the use of its group and a delay. It does not throttle, inject faults or keep
// a journal; the assembled cloud does that around the query.Service given here.
//
// Start with New, then operations in operations.go.
package elbv2
