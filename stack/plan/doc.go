// Package plan is what will be done, as data: steps that turn what was found
// into what is wanted, each with its reason and the fields it changes.
//
// A plan can be printed (human, JSON, DOT, Mermaid), tested, filtered by policy
// and refused, all before the first call. It is made by stack/diff and run by
// stack/engine. The package performs no I/O. Start at [Step] and [Plan].
package plan
