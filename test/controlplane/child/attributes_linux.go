package child

import "syscall"

func attributes(whenOrphaned syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: whenOrphaned}
}
