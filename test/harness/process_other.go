//go:build !linux

package harness

import "syscall"

// dieWithUs has no counterpart here: a killed harness may leave children behind.
func dieWithUs() *syscall.SysProcAttr { return nil }
