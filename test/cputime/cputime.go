package cputime

import (
	"syscall"
	"testing"
	"time"
)

// runs is how often work is measured: what else the process does is in some of them.
const runs = 3

// Least returns the processor time of the fastest of a few runs of work.
func Least(t testing.TB, work func()) time.Duration {
	t.Helper()
	least := time.Hour
	for range runs {
		before := cpuTime(t)
		work()
		least = min(least, cpuTime(t)-before)
	}
	return least
}

// cpuTime returns the processor time of this process so far.
func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
