// Command scale measures what Berth takes from its machine in a large cluster:
// memory, processor time, cloud calls and the time from start to ready, with the
// real controller as a process on a real API server and a simulated cloud. It
// prints a table and writes bin/scale.json. SERVICES and NODES make it smaller.
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
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// The size that the goals are for.
const (
	defaultServices = 2000
	defaultNodes    = 5000
)

func run(ctx context.Context) (err error) {
	services, err := number("SERVICES", defaultServices)
	if err != nil {
		return err
	}
	nodes, err := number("NODES", defaultNodes)
	if err != nil {
		return err
	}
	world, err := harness.Start(ctx, harness.Options{
		Cloud: "aws", Nodes: nodes, Progress: os.Stderr,
		// An account of this size has had its quotas raised.
		SimArgs: []string{"--quota-factor=1000"},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	s := &scale{world: world, services: services, nodes: nodes}
	err = s.measure(ctx)
	s.show(os.Stdout)
	return errors.Join(err, s.write())
}

// number reads a number of at least one from the environment.
func number(name string, otherwise int) (int, error) {
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
