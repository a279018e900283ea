// Package plan represents planned changes as data: steps from the observed to the
// desired state, each with its reason and the fields it changes.
//
// A plan can be printed (human, JSON, DOT, Mermaid), tested, filtered by policy
// and refused, all before the first call. Package stack/diff computes it, and
// stack/engine runs it. The package performs no I/O. Start at [Step] and [Plan].
package plan
