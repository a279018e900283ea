package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/berth-lb/berth/test/controlplane/binaries"
)

const usage = `usage:
  controlplane build
        build what is missing in the cache and print the paths as JSON
  controlplane up --out DIR [flags]
        run a control plane until standard input is closed or a signal arrives;
        print one line of JSON when it is ready (see controlplane up --help)
`

func main() { os.Exit(runCommand(os.Args[1:])) }

// runCommand returns the exit status: 0 after an orderly end, 1 when something failed,
// 2 when the command line is wrong.
func runCommand(args []string) int {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return 2
	}
	var err error
	switch verb, rest := args[0], args[1:]; verb {
	case "build":
		err = buildBinaries(rest)
	case "up":
		err = startPlane(rest)
	default:
		fmt.Fprint(os.Stderr, usage)
		return 2
	}
	var wrong *usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &wrong):
		fmt.Fprintf(os.Stderr, "controlplane: %v\n", err)
		return 2
	}
	fmt.Fprintf(os.Stderr, "controlplane: %v\n", err)
	return 1
}

// usageError is a mistake in the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func parseFlags(flags *flag.FlagSet, args []string) error {
	flags.SetOutput(os.Stderr)
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err != nil {
		return &usageError{err: err}
	}
	return nil
}

func buildBinaries(args []string) error {
	if err := parseFlags(flag.NewFlagSet("controlplane build", flag.ContinueOnError), args); err != nil {
		return err
	}
	ctx, stop := untilSignal(context.Background())
	defer stop()
	paths, err := ensureBinaries(ctx, binaries.All())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(paths)
}

func ensureBinaries(ctx context.Context, components []binaries.Component) (map[string]string, error) {
	dir, err := binaries.DefaultDir()
	if err != nil {
		return nil, err
	}
	store := &binaries.Store{Dir: dir, Progress: os.Stderr}
	return store.Ensure(ctx, components...)
}
