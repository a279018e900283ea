package harness

import "syscall"

// dieWithUs lets the kernel end the child when this process ends in whatever way.
func dieWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
