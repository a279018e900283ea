//go:build unix && !linux

package child

import "syscall"

// attributes cannot ask for a signal here: only Linux and FreeBSD have one, and
// FreeBSD is not a platform that the tests run on.
func attributes(syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
