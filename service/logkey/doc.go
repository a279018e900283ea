// Package logkey is the list of keys that log lines of Berth have: whoever
// searches logs can rely on it, and a test holds the log calls against it.
//
// It logs nothing. Start at [All].
package logkey
