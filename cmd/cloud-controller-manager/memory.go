package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
)

// garbage is how much garbage may come on top of what is in use, in percent, where
// GOGC does not say it. In a large cluster nearly everything the process
// allocates is the texts of requests and answers, which are garbage at once: with
// Go's default of 100 its peak would be far above what it holds.
const garbage = 50

// memoryVariable names the memory that the container may use, in bytes. The chart
// takes it from the limit of the container.
const memoryVariable = "BERTH_MEMORY_LIMIT"

// heapShare is the part of that memory, in percent, from which on garbage is collected
// however much processor time it takes.
const heapShare = 80

// programPages is the memory, in bytes, that the runtime does not count: pages of the program
// itself, of which a controller that serves touches 100 to 110 MB.
const programPages = 128 << 20

func spareMemory() error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return nil // read by the runtime itself
	}
	limit, err := heapLimit(os.Getenv(memoryVariable))
	if limit > 0 {
		debug.SetMemoryLimit(limit)
	}
	return err
}

// heapLimit returns what the runtime is to keep below, in bytes, for the memory that
// the container may use; 0 if that is not said.
func heapLimit(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%s: %q is not a number of bytes from 1 on", memoryVariable, text)
	}
	return max(n/2, min(n/100*heapShare, n-programPages)), nil
}
