// Package models records the calls of a provider to a simulator, and the differences from the
// models of a vendor's SDK that a judge finds in them.
//
// It depends on no SDK: each cloud's judge is in a module of its own, test/conform/<cloud>. Where an SDK does not
// fit into that module, a program in another one prints its models.
//
// Start with Recorder.
package models
