package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// modulePath is the module whose root holds test/controlplane.
const modulePath = "github.com/berth-lb/berth"

// planeCommand returns the path of the control plane command and builds it when the
// cache has none for its present source.
func planeCommand(ctx context.Context) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	source := filepath.Join(root, "test", "controlplane")
	sum, err := sourceSum(source)
	if err != nil {
		return "", fmt.Errorf("source of the control plane command: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cache folder: %w", err)
	}
	path := filepath.Join(cache, "berth", "controlplane", "command-"+sum)
	_, err = os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = buildCommand(ctx, source, path)
	}
	return path, err
}

// buildCommand needs no lock: the build takes a second, and the rename lets
// several processes do it at once.
func buildCommand(ctx context.Context, source, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	unfinished := fmt.Sprintf("%s.tmp%d", path, os.Getpid())
	defer func() { _ = os.Remove(unfinished) }()
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o="+unfinished, "./cmd/controlplane")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "PWD="+source, "GOWORK=off", "GOFLAGS=",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("control plane command: build: %w:\n%s", err, said)
	}
	return os.Rename(unfinished, path)
}

// sourceSum names the state of the source that the command is built from.
func sourceSum(dir string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := entry.Name()
		isSource := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
		if !isSource && name != "go.mod" && name != "go.sum" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %d\n", filepath.ToSlash(relative), len(text))
		_, err = sum.Write(text)
		return err
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8]), nil
}

// moduleRoot walks up from the working directory: go test runs a test in the
// folder of its package, and the programs are run from within the repository.
func moduleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && declaresModule(text, modulePath) {
			return dir, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("module %s: no go.mod in or above %s", modulePath, start)
		}
	}
}

// declaresModule reports whether a go.mod declares the module.
func declaresModule(goMod []byte, module string) bool {
	for line := range bytes.Lines(goMod) {
		if fields := bytes.Fields(line); len(fields) >= 2 && string(fields[0]) == "module" {
			return string(fields[1]) == module
		}
	}
	return false
}

// lineWriter writes whole lines. Standard error of a child passes through it, and not
// straight to this process's file, for two reasons: lines of several processes do not mix,
// and go test does not wait for a child that still holds the file.
type lineWriter struct {
	write func(line []byte)
	rest  []byte
}

func (w *lineWriter) Write(text []byte) (int, error) {
	w.rest = append(w.rest, text...)
	for {
		end := bytes.IndexByte(w.rest, '\n')
		if end < 0 {
			return len(text), nil
		}
		w.write(w.rest[:end+1])
		w.rest = w.rest[end+1:]
	}
}
