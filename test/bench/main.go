// Command bench counts what Berth costs: cloud calls per Service in every phase
// of a Service's life, from the journal of the simulator, with the real
// controller as a process on a real API server. It prints a table and writes
// bin/bench.json.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/berth-lb/berth/test/harness"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// The published numbers of the official controllers are for ten Services on
// twenty nodes, so ours are too.
const (
	services = 10
	nodes    = 20
	restarts = 500 // Services in place when the controller restarts
)

func run(ctx context.Context) error {
	var rows []row
	head()
	for _, s := range subjects() {
		if only := os.Getenv("ONLY"); only != "" && only != s.cloud && only != s.kind {
			continue
		}
		got, err := measure(ctx, s)
		rows = append(rows, got...)
		show(got) // at once: a kind takes a minute
		if err != nil {
			return fmt.Errorf("%s %s: %w", s.cloud, s.kind, err)
		}
	}
	return write(rows)
}

// measure runs all phases for one kind of load balancer in a world of its own.
func measure(ctx context.Context, s subject) (rows []row, err error) {
	world, err := harness.Start(ctx, harness.Options{Cloud: s.cloud, Nodes: nodes, Progress: os.Stderr, SimArgs: s.simArgs})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	b := &bench{world: world, subject: s}
	if err := b.life(ctx); err != nil {
		return b.rows, err
	}
	for _, n := range s.together {
		if err := b.crowd(ctx, n); err != nil {
			return b.rows, err
		}
	}
	return b.rows, b.restart(ctx)
}
