package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := runCommand(ctx, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		stop()
		os.Exit(1)
	}
}

func runCommand(ctx context.Context, args []string) error {
	programs := releasePrograms()
	r := Release{Module: ".", Programs: programs, Plugin: programs[1], Progress: os.Stderr}
	set := flag.NewFlagSet("release", flag.ContinueOnError)
	set.StringVar(&r.Out, "out", "bin/release", "folder for the results; what is in it is removed")
	set.StringVar(&r.Version, "version", "", "version, as v1.2.3 (required)")
	set.StringVar(&r.LinkerFlags, "ldflags", "", "flags of the linker, which stamp the version")
	set.StringVar(&r.Chart, "chart", "charts/berth", "folder of the chart; without it no chart is packaged")
	epoch := set.String("epoch", os.Getenv("SOURCE_DATE_EPOCH"), "time of the release in seconds since 1970; default SOURCE_DATE_EPOCH")
	if err := set.Parse(args); err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(*epoch, 10, 64)
	if err != nil {
		return fmt.Errorf("--epoch: %w", err)
	}
	r.Time = time.Unix(seconds, 0).UTC()
	return r.Build(ctx)
}

// releasePrograms returns the programs of a release: the controller for the machines of
// clusters, and the command line for machines of users as well.
func releasePrograms() []Program {
	clusters := []Platform{{"linux", "amd64"}, {"linux", "arm64"}}
	people := []Platform{{"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}
	return []Program{{"./cmd/cloud-controller-manager", clusters}, {"./cmd/berth", slices.Concat(clusters, people)}}
}
