// Package explain determines why the fields of a desired stack have their values. It builds the
// stack again without each input of a Service in turn: an input is the origin of every field
// that differs then. The package does no I/O; start at [Explain].
package explain
