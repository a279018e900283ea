// Package tracing makes a span of every run over a Service and of every call to
// the cloud, and sends them to a collector by OTLP.
//
// It is off unless somebody names a collector, and then costs nothing. Reads and
// batches serve many Services with one call: such a call belongs to the run that
// came first, and has links to the others. Start at [Start].
package tracing
