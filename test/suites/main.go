package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// module is what import paths of this repository begin with.
const module = "github.com/berth-lb/berth/"

func main() {
	only := flag.String("only", "", "regular expression for the packages, such as ^providers/aws; empty: all but test/e2e")
	page := flag.String("page", filepath.Join("docs", "testing.md"), "file with the table")
	flag.Parse()
	if err := measureSuites(context.Background(), *only, *page); err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
		os.Exit(1)
	}
}

// suite is a package with tests.
type suite struct{ name, dir string }

// measureSuites runs the tests of the selected packages one after the other, and writes after
// each how much processor time it took. A package whose tests fail keeps its row.
func measureSuites(ctx context.Context, only, page string) error {
	selected, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	all, err := listSuites(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "suites-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var failed error
	for _, s := range all {
		if !selected.MatchString(s.name) || only == "" && s.name == "test/e2e" {
			continue
		}
		seconds, err := measureSuite(ctx, s, filepath.Join(dir, "suite.test"))
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		fmt.Printf("%-40s %6.1f s\n", s.name, seconds)
		measured := row{suite: s.name, seconds: seconds, day: time.Now().Format(time.DateOnly), machine: describeMachine()}
		if err := updatePage(page, measured, all); err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

// updatePage writes the row of a package into the table of a page.
func updatePage(page string, measured row, all []suite) error {
	before, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	after, err := updateTable(string(before), []row{measured}, all)
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(after), 0o644)
}

// describeMachine returns what a measurement depends on.
func describeMachine() string {
	return fmt.Sprintf("%d processors, %s", runtime.NumCPU(), runtime.Version())
}

// listSuites returns the packages that have tests.
func listSuites(ctx context.Context) ([]suite, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	var all []suite
	for line := range strings.Lines(string(out)) {
		path, dir, found := strings.Cut(strings.TrimSpace(line), " ")
		if name, ours := strings.CutPrefix(path, module); found && ours {
			all = append(all, suite{name: name, dir: dir})
		}
	}
	return all, nil
}

// measureSuite returns the processor time of the tests of a package in seconds, with that of the
// processes that they start and wait for. Compilation does not count.
func measureSuite(ctx context.Context, s suite, program string) (float64, error) {
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, "./"+s.name).CombinedOutput(); err != nil { // #nosec G204 -- packages of this repository
		return 0, fmt.Errorf("compile the tests of %s: %w\n%s", s.name, err, out)
	}
	run := exec.CommandContext(ctx, program, "-test.timeout", "60m") // #nosec G204 -- compiled above
	run.Dir = s.dir
	out, err := run.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("the tests of %s: %w\n%s", s.name, err, out)
	}
	return (run.ProcessState.UserTime() + run.ProcessState.SystemTime()).Seconds(), nil
}
