package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// bench has the compiled tests of packages, with all mutants in them.
type bench struct {
	root, dir string
	overlay   string
	log       io.Writer
}

// newBench writes the sources with all mutants. Tests are compiled when they are first needed.
func newBench(root string, all []Mutant, log io.Writer) (*bench, error) {
	dir := filepath.Join(root, "bin", "_mutants") // no package of ./...
	path, err := writeOverlay(root, dir, all)
	return &bench{root: root, dir: dir, overlay: path, log: log}, err
}

// test returns the program with the tests of a package.
func (b *bench) test(pkg string) string {
	return filepath.Join(b.dir, strings.ReplaceAll(pkg, "/", "-")+".test")
}

// build compiles the tests of packages, without the tables of debuggers, which take half of the
// linker's time.
func (b *bench) build(ctx context.Context, packages []string) error {
	for _, pkg := range packages {
		began := time.Now()
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-ldflags=-s -w", "-overlay", b.overlay, "-o", b.test(pkg), "./"+pkg) // #nosec G204 -- packages of this repository
		cmd.Dir, cmd.Stdout, cmd.Stderr = b.root, b.log, b.log
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("compile the tests of %s: %w", pkg, err)
		}
		_, _ = fmt.Fprintf(b.log, "compiled %s in %v\n", pkg, time.Since(began).Round(time.Second))
	}
	return nil
}

// longest is how long the tests of a package may take with a mutant: most mutants fail at once, others have
// a goroutine wait for ever.
const longest = 2 * time.Minute

// run runs tests of a package with a mutant switched on; none: the product as it is. It returns
// the first test that fails; empty: all pass.
func (b *bench) run(ctx context.Context, pkg, tests, mutant string) (string, error) {
	args := []string{"-test.failfast", "-test.timeout", longest.String()}
	if tests != "" {
		args = append(args, "-test.run", tests)
	}
	cmd := exec.CommandContext(ctx, b.test(pkg), args...) // #nosec G204 -- compiled above
	cmd.Dir, cmd.Env = filepath.Join(b.root, pkg), append(os.Environ(), chosen+"="+mutant)
	out, err := cmd.CombinedOutput()
	if err == nil {
		if strings.Contains(string(out), "no tests to run") {
			return "", fmt.Errorf("%s: no test matches %q", pkg, tests)
		}
		return "", nil
	}
	return failedIn(string(out)), nil
}

// failedIn returns the name of the first test that failed, by what the tests printed.
func failedIn(out string) string {
	for _, pattern := range []string{`(?m)^--- FAIL: (Test\w+)`, `(?m)^\s+(Test\w+)(?:/\S+)? \(\d+`, `\b(Test\w+)\(0x`} {
		if found := regexp.MustCompile(pattern).FindStringSubmatch(out); found != nil {
			return found[1]
		}
	}
	return "?"
}

// packagesNear returns the packages whose tests are tried for a mutant of a file, the closest first.
func packagesNear(file string) []string {
	pkg := filepath.ToSlash(filepath.Dir(file))
	switch pkg {
	case "service/reconcile":
		return []string{pkg, "service"}
	case "stack/ledger", "stack/diff", "stack/engine":
		return []string{pkg, "service/reconcile"}
	default:
		return []string{pkg}
	}
}

// find returns the package and the test that find a mutant; empty: none does.
func (b *bench) find(ctx context.Context, m Mutant) (string, error) {
	for _, pkg := range packagesNear(m.File) {
		failed, err := b.run(ctx, pkg, "", m.Name)
		if failed != "" || err != nil {
			return pkg + " " + failed, err
		}
	}
	return "", nil
}

// isFound reports whether the test of a mutant finds it.
func (b *bench) isFound(ctx context.Context, m Mutant) (bool, error) {
	pkg, test, _ := strings.Cut(m.By, " ")
	failed, err := b.run(ctx, pkg, "^"+test+"$", m.Name)
	return failed != "", err
}

// packagesOf returns the packages with the tests that find mutants, each once.
func packagesOf(mutants []Mutant) []string {
	var out []string
	seen := map[string]bool{}
	for _, m := range mutants {
		if pkg, _, _ := strings.Cut(m.By, " "); pkg != "" && !seen[pkg] {
			seen[pkg] = true
			out = append(out, pkg)
		}
	}
	return out
}
