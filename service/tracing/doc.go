// Package tracing makes a span of every run over a Service and of every call to
// the cloud, and sends them to a collector by OTLP.
//
// It is off unless a collector is configured, and then costs nothing. Reads and
// batches serve many Services with one call: such a call belongs to the first run,
// and has links to the others. Start at [Start].
package tracing
