//go:build unix

package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// ErrHeld is what Try returns when another process, or another Lock of this one,
// holds the file.
var ErrHeld = errors.New("lock is held")

// pollEvery is short enough not to be noticed beside a build of minutes. The
// kernel can wait by itself, but then the context could not end the waiting.
const pollEvery = 100 * time.Millisecond

// Lock is a held lock.
type Lock struct{ file *os.File }

// Try locks the file at path, which is created when missing, or returns an error
// that is ErrHeld.
func Try(path string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return &Lock{file: file}, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrHeld
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// Wait locks the file at path and waits while others hold it, until ctx ends. It calls held
// once when it has to wait, so that the caller can report it.
func Wait(ctx context.Context, path string, held func()) (*Lock, error) {
	lock, err := Try(path)
	if !errors.Is(err, ErrHeld) {
		return lock, err
	}
	held()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for errors.Is(err, ErrHeld) {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: %w", path, ctx.Err())
		case <-ticker.C:
		}
		lock, err = Try(path)
	}
	return lock, err
}

// Unlock gives the lock up. The file stays: removing it would let two processes
// hold locks on two files of one name.
func (l *Lock) Unlock() { _ = l.file.Close() }
