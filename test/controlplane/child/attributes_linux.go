package child

import "syscall"

func processAttributes(whenOrphaned syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: whenOrphaned}
}
