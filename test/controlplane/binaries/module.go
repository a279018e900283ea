package binaries

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/berth-lb/berth/test/controlplane"
	"github.com/berth-lb/berth/test/controlplane/child"
)

// stopGrace is how long a cancelled go command may take to clean its work folder.
const stopGrace = 5 * time.Second

// module is a temporary folder with the go.mod and go.sum of this module, in
// which the go command runs. A package of a required module can be built there by
// its import path; the compiled packages go to the usual build cache.
type module struct{ dir string }

func newModule() (*module, error) {
	dir, err := os.MkdirTemp("", "berth-controlplane-build-")
	if err != nil {
		return nil, err
	}
	m := &module{dir: dir}
	for name, text := range map[string]string{"go.mod": controlplane.GoMod(), "go.sum": controlplane.GoSum()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			m.remove()
			return nil, err
		}
	}
	return m, nil
}

func (m *module) remove() { _ = os.RemoveAll(m.dir) }

// goVersion is the version of the toolchain that a build in the module uses,
// which is not always the one that built this program.
func (m *module) goVersion(ctx context.Context) (string, error) {
	out, err := m.command(ctx, "env", "GOVERSION").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	return strings.ReplaceAll(strings.TrimSpace(string(out)), " ", "-"), nil
}

// build compiles with two jobs at most: each needs up to a gigabyte here, and the
// tests that wait are not alone on the machine. What nothing else compiles is not inlined,
// which halves its time; the rest is compiled as the product is, with which it shares what
// Go has in its cache.
func (m *module) build(ctx context.Context, component Component, version, output string) error {
	cmd := m.command(ctx, "build", "-p=2", "-buildvcs=false", "-mod=readonly",
		"-ldflags="+component.linkerFlags(version), "-o="+output)
	for _, packages := range component.Own {
		cmd.Args = append(cmd.Args, "-gcflags="+packages+"=-l")
	}
	cmd.Args = append(cmd.Args, component.Package)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	spawner := child.NewSpawner()
	defer spawner.Close()
	err := spawner.Start(cmd, syscall.SIGINT)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("build: %w", ctx.Err())
		}
		return fmt.Errorf("build: %w:\n%s", err, said.String())
	}
	return nil
}

// command runs the go command for this machine, whatever target or flags the caller's
// environment asks for. With or without cgo is left to the environment, as for the product:
// the programs need none, but what both import is compiled once only if both have it or
// neither has.
func (m *module) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "PWD="+m.dir, "GOWORK=off", "GOFLAGS=",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	// An interrupted go command removes its work folder.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = stopGrace
	return cmd
}
