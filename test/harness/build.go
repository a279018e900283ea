package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Binaries are the paths of the programs under test.
type Binaries struct {
	Controller string // cloud-controller-manager
	Berth      string // the command line
	Cloudsim   string // the simulators
}

// Build compiles the programs of this repository into its bin folder. What Go
// has in its cache costs a second.
func Build(ctx context.Context, progress io.Writer) (Binaries, error) {
	out, err := binaryPaths()
	if err != nil {
		return Binaries{}, err
	}
	return out, buildPrograms(ctx, progress, out.Cloudsim, out.Berth, out.Controller)
}

// binaryPaths returns where the programs are built.
func binaryPaths() (Binaries, error) {
	root, err := Root()
	if err != nil {
		return Binaries{}, err
	}
	return Binaries{
		Controller: filepath.Join(root, "bin", "cloud-controller-manager"),
		Berth:      filepath.Join(root, "bin", "berth"),
		Cloudsim:   filepath.Join(root, "bin", "cloudsim"),
	}, nil
}

// buildPrograms compiles programs of the repository to these paths of its bin folder.
// Their debugging tables are left out: they take half of the linker's time and are not
// needed here.
func buildPrograms(ctx context.Context, progress io.Writer, paths ...string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	free, err := Alone(root)
	if err != nil {
		return err
	}
	defer free()
	// One command, since to find that nothing has changed takes a second each time.
	args := []string{"build", "-ldflags=-w", "-o", filepath.Join(root, "bin") + string(filepath.Separator)}
	names := make([]string, 0, len(paths))
	for _, path := range paths {
		name := filepath.Base(path)
		source := "./cmd/" + name
		if name == "cloudsim" {
			source = "./test/sim/cmd/" + name
		}
		args, names = append(args, source), append(names, name)
	}
	fmt.Fprintf(progress, "building %s\n", strings.Join(names, ", "))
	began := time.Now()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, progress, progress
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w", strings.Join(names, ", "), err)
	}
	fmt.Fprintf(progress, "built after %s\n", time.Since(began).Round(time.Second))
	return nil
}

// Alone waits until no other process builds into the bin folder of a repository, and
// returns what ends that: of several that build the same, one compiles and links, and
// the others find it done.
func Alone(root string) (free func(), err error) {
	bin := filepath.Join(root, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(bin, "build.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", lock.Name(), err), lock.Close())
	}
	return func() { _ = lock.Close() }, nil // which frees it
}

// Root is the folder of the repository: the one above the working directory
// whose go.mod declares the main module.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		body, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(body), "module github.com/berth-lb/berth\n") {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("repository: no go.mod of github.com/berth-lb/berth above the working directory")
		}
		dir = up
	}
}
