// Package reconcile is the one way of a Service through the program:
//
//	annotations -> backends -> read or snapshot -> build -> ledger -> diff -> policy -> engine
//
// The loop (package service), the command line and the tests walk the same two
// functions, [Reconciler.Draft] and [Reconciler.Run]. The package knows neither
// informers nor queues, and writes nothing to Kubernetes: it returns what the caller
// writes there. Start at [Reconciler.Draft].
package reconcile
