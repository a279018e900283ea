//go:build !linux

package harness

import (
	"errors"
	"time"
)

// Usage is what a process has taken from the machine so far.
type Usage struct {
	Resident int64         // bytes in memory now
	Peak     int64         // bytes in memory at most
	Own      int64         // bytes in memory now that are not those of files, such as the program
	CPU      time.Duration // of all its threads, in user and kernel mode
}

// Usage is known on Linux alone.
func (p *Process) Usage() (Usage, error) {
	return Usage{}, errors.New(p.Name + ": usage is read from /proc, which only Linux has")
}
