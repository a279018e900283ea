// Package filelock locks a file among processes. The kernel drops a lock when its
// process ends in whatever way, so a lock is never left behind by a killed
// process; that is why it is used instead of files that merely exist.
//
// It must not be used among goroutines of one process that share a Lock. Start at
// Try.
package filelock
