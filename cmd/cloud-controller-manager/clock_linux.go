package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot returns the time since the machine has started, with the time in which it was
// suspended. Go's own monotonic clock does not count that.
func sinceBoot() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return sinceEpoch() // kernels before 2.6.39
	}
	return time.Duration(now.Nano())
}
