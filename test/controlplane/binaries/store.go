package binaries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/berth-lb/berth/test/controlplane/filelock"
)

// Store is a folder of built programs.
type Store struct {
	// Dir is where the programs are kept. It is created when missing.
	Dir string
	// Progress receives a line when a build begins, ends or is waited for.
	Progress io.Writer
}

// DefaultDir is the folder in the user's cache that every checkout of the
// repository shares.
func DefaultDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cache folder: %w", err)
	}
	return filepath.Join(cache, "berth", "controlplane"), nil
}

// Ensure builds the components that are missing, one after the other, and returns
// the path of each by its name. Two processes may call it at once.
func (s *Store) Ensure(ctx context.Context, components ...Component) (map[string]string, error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("cache folder: %w", err)
	}
	work, err := newModule()
	if err != nil {
		return nil, err
	}
	defer work.remove()
	goVersion, err := work.goVersion(ctx)
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for _, component := range components {
		path, err := s.ensure(ctx, work, component, goVersion)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", component.Name, err)
		}
		paths[component.Name] = path
	}
	return paths, nil
}

func (s *Store) ensure(ctx context.Context, work *module, component Component, goVersion string) (string, error) {
	version, err := component.Version()
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("%s-%s-%s-%s-%s", component.Name, version, goVersion, runtime.GOOS, runtime.GOARCH)
	path := filepath.Join(s.Dir, name)
	if ok, err := fileExists(path); ok || err != nil {
		return path, err
	}
	lock, err := filelock.Wait(ctx, path+".lock", func() {
		s.say("waiting for another process that builds %s %s", component.Name, version)
	})
	if err != nil {
		return "", err
	}
	defer lock.Unlock()
	// The process that held the lock before may have built it.
	if ok, err := fileExists(path); ok || err != nil {
		return path, err
	}
	s.say("building %s %s, about %s, once", component.Name, version, component.Takes)
	began := time.Now()
	if err := s.build(ctx, work, component, version, path); err != nil {
		return "", err
	}
	s.say("built %s %s in %s", component.Name, version, time.Since(began).Round(time.Second))
	return path, nil
}

// build writes into a name of this process and renames at the end, so that a
// killed build never leaves half a program under the final name.
func (s *Store) build(ctx context.Context, work *module, component Component, version, path string) error {
	unfinished := fmt.Sprintf("%s.tmp%d", path, os.Getpid())
	defer func() { _ = os.Remove(unfinished) }()
	if err := work.build(ctx, component, version, unfinished); err != nil {
		return err
	}
	return os.Rename(unfinished, path)
}

func (s *Store) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.Progress, format+"\n", args...)
}

func fileExists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
