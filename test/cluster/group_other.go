//go:build !unix

package cluster

import "syscall"

// ownGroup exists so that the package compiles everywhere; the control plane
// itself runs on Unix alone.
func ownGroup() *syscall.SysProcAttr { return nil }
