//go:build unix

package child

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Spawner starts processes from a thread of its own.
type Spawner struct{ requests chan func() }

// NewSpawner returns a running Spawner, which must be closed.
func NewSpawner() *Spawner {
	s := &Spawner{requests: make(chan func())}
	go s.serve()
	return s
}

func (s *Spawner) serve() {
	// The thread is never unlocked, so nothing else runs on it and it stays.
	runtime.LockOSThread()
	for request := range s.requests {
		request()
	}
}

// Start starts the command in a process group of its own, so that Ctrl-C at a
// terminal reaches only this process, which then stops its children in order. On
// Linux the child receives the signal when this process ends before it.
func (s *Spawner) Start(cmd *exec.Cmd, whenOrphaned syscall.Signal) error {
	cmd.SysProcAttr = processAttributes(whenOrphaned)
	result := make(chan error)
	s.requests <- func() { result <- cmd.Start() }
	return <-result
}

// Close ends the Spawner. Everything it started must have been waited for: what
// still runs may or may not be signalled, for the runtime ends the thread of a
// locked goroutine only when it is not the first thread of the process.
func (s *Spawner) Close() { close(s.requests) }
