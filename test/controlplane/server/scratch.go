package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/berth-lb/berth/test/controlplane/filelock"
)

const (
	scratchPrefix = "berth-controlplane-data-"
	scratchLock   = "lock"
)

// scratch is the folder of one control plane's data. Its lock tells other
// processes that the owner lives.
type scratch struct {
	dir  string
	lock *filelock.Lock
}

// newScratch makes the folder under a name that sweep does not look at, locks it
// and only then gives it its name: a folder that sweep sees has had a lock.
func newScratch() (*scratch, error) {
	removeLeftovers()
	hidden, err := os.MkdirTemp("", "new-"+scratchPrefix)
	if err != nil {
		return nil, err
	}
	lock, err := filelock.Try(filepath.Join(hidden, scratchLock))
	if err != nil {
		_ = os.RemoveAll(hidden)
		return nil, fmt.Errorf("data folder: %w", err)
	}
	parent, name := filepath.Split(hidden)
	dir := filepath.Join(parent, strings.TrimPrefix(name, "new-"))
	if err := os.Rename(hidden, dir); err != nil {
		_ = os.RemoveAll(hidden)
		lock.Unlock()
		return nil, fmt.Errorf("data folder: %w", err)
	}
	return &scratch{dir: dir, lock: lock}, nil
}

func (s *scratch) remove() {
	_ = os.RemoveAll(s.dir)
	s.lock.Unlock()
}

// removeLeftovers removes the data of control planes whose process was killed. Their
// programs died with them, see package child.
func removeLeftovers() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), scratchPrefix+"*"))
	for _, dir := range dirs {
		path := filepath.Join(dir, scratchLock)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		lock, err := filelock.Try(path)
		if err != nil {
			continue
		}
		_ = os.RemoveAll(dir)
		lock.Unlock()
	}
}
