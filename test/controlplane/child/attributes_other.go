//go:build unix && !linux

package child

import "syscall"

// processAttributes cannot ask for a signal here: only Linux and FreeBSD have one, and
// FreeBSD is not a platform that the tests run on.
func processAttributes(syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
