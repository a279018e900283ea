// Package logkey is the list of keys of Berth's log lines. Log searches can rely on it; a
// test compares the log calls with it.
//
// It logs nothing. Start at [All].
package logkey
