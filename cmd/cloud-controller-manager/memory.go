package main

import (
	"os"
	"runtime/debug"
)

// garbage is how much garbage may come on top of what is in use, in percent, where
// GOGC does not say it. In a large cluster nearly all that the process ever
// allocates is the texts of requests and answers, which are garbage at once: with
// Go's default of 100 its peak would be far above what it holds.
const garbage = 50

func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}
