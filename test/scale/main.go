// Command scale measures what Berth takes from its machine in a large cluster:
// memory, processor time, cloud calls and the time from start to ready, with the
// real controller as a process on a real API server and a simulated cloud. It
// prints a table and writes bin/scale.json. SERVICES and NODES change the size,
// ONLY=aws or ONLY=ilb-ig chooses a cloud or a kind of load balancer.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/berth-lb/berth/test/harness"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := runCommand(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func runCommand(ctx context.Context) error {
	var done []result
	for _, s := range newSubjects() {
		if only := os.Getenv("ONLY"); only != "" && only != s.cloud && only != s.kind {
			continue
		}
		var err error
		if s.services, err = envNumber("SERVICES", s.services); err != nil {
			return err
		}
		if s.nodes, err = envNumber("NODES", s.nodes); err != nil {
			return err
		}
		got, err := measurePhases(ctx, s)
		got.show(os.Stdout) // at once: the next one takes minutes
		done = append(done, got)
		if err != nil {
			return fmt.Errorf("%s %s: %w", s.cloud, s.kind, err)
		}
	}
	return writeResults(done)
}

// measurePhases runs all phases in a world of its own. What was measured before an
// error is returned with it.
func measurePhases(ctx context.Context, s subject) (got result, err error) {
	got = result{Cloud: s.cloud, Kind: s.kind, Services: s.services, Nodes: s.nodes, Pods: s.pods, GoalMiB: s.goalMiB, Beyond: s.beyond}
	world, err := harness.Start(ctx, harness.Options{Cloud: s.cloud, Nodes: s.nodes, Progress: os.Stderr, SimArgs: s.simArgs})
	if err != nil {
		return got, err
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	if err := world.Sim.Configure(func(conf string) string { return conf + s.config }); err != nil {
		return got, err
	}
	m := &scale{world: world, subject: s}
	err = m.measure(ctx)
	got.Phases, got.EmptyMiB = m.rows, m.empty
	return got, err
}

// envNumber reads a number of at least one from the environment.
func envNumber(name string, otherwise int) (int, error) {
	text := os.Getenv(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s %q: not a number from 1 on", name, text)
	}
	return n, nil
}
