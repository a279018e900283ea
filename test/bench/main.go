// Command bench counts what Berth costs, with the real controller as a process on a
// real API server and the journal of the simulator. It prints tables and writes them
// into the bin folder.
//
// The table calls has the cloud calls per Service in every phase of a Service's life
// (bin/bench.json). The table limits has how long each phase takes at the rates that
// the clouds document (bin/limits.json), against the time that its calls need: of the
// bucket that takes longest, what is beyond the burst, divided by the rate, and the jobs before and after. The table
// size has what some clouds add to the controller (bin/size.json).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/berth-lb/berth/test/cluster"
	"github.com/berth-lb/berth/test/harness"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := runCommand(ctx, os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
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

// choice is what part of the tables is asked for.
type choice struct {
	tables, clouds, kinds, phases []string
	services, slow, many          []int
}

func parseChoice(args []string) (c choice, err error) {
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	list := func(name, value, usage string) *string { return set.String(name, value, usage+", separated by commas") }
	tables := list("tables", "calls,limits,size", "tables to measure")
	slow := list("slow", "10", "numbers of Services of the table limits with operations that take long")
	crowds := list("many", "500", "numbers of Services of the table limits for what is measured with many: a user's change of one of them")
	clouds := list("cloud", "", "clouds; empty for all")
	kinds := list("kind", "", "kinds of load balancers; empty for all")
	wanted := list("phases", strings.Join(limitedPhases(), ","), "phases of the table limits")
	numbers := list("services", "1,10,100,300", "numbers of Services of the table limits")
	if err := set.Parse(args); err != nil {
		return c, err
	}
	if set.NArg() > 0 {
		return c, fmt.Errorf("argument %q: not known", set.Arg(0))
	}
	c = choice{tables: splitList(*tables), clouds: splitList(*clouds), kinds: splitList(*kinds), phases: splitList(*wanted)}
	for _, p := range c.phases {
		if !slices.Contains(limitedPhases(), p) {
			return c, fmt.Errorf("phase %q: want some of %v", p, limitedPhases())
		}
	}
	if c.services, err = countsOf("services", *numbers); err != nil {
		return c, err
	}
	if c.many, err = countsOf("many", *crowds); err != nil {
		return c, err
	}
	c.slow, err = countsOf("slow", *slow)
	return c, err
}

func countsOf(flag, text string) (out []int, err error) {
	for _, part := range splitList(text) {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%s %q: not a number from 1 on", flag, part)
		}
		out = append(out, n)
	}
	return out, nil
}

func splitList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// of are the subjects that are asked for.
func (c choice) of(all []subject) []subject {
	return slices.DeleteFunc(all, func(s subject) bool {
		return (len(c.clouds) > 0 && !slices.Contains(c.clouds, s.cloud)) || (len(c.kinds) > 0 && !slices.Contains(c.kinds, s.kind))
	})
}

func runCommand(ctx context.Context, args []string) error {
	c, err := parseChoice(args)
	if err != nil {
		return err
	}
	for _, table := range c.tables {
		switch table {
		case "calls":
			err = measureCalls(ctx, c)
		case "limits":
			err = measureLimits(ctx, c)
		case "size":
			err = measureSizes(ctx)
		default:
			err = fmt.Errorf("table %q: want calls, limits or size", table)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func measureCalls(ctx context.Context, c choice) error {
	var rows []row
	printHeader()
	for _, s := range c.of(newSubjects()) {
		got, err := measurePhases(ctx, s)
		rows = append(rows, got...)
		printRows(got) // at once: a kind takes a minute
		if err != nil {
			return fmt.Errorf("%s %s: %w", s.cloud, s.kind, err)
		}
	}
	return writeFile("bench.json", rows)
}

// measureLimits continues with the next kind when one has failed, and returns the
// errors at the end.
func measureLimits(ctx context.Context, c choice) (failed error) {
	control, err := cluster.Start(ctx, cluster.Options{Progress: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, control.Stop()) }()
	rows := []limitRow{}
	limitHead()
	for _, s := range c.of(slices.Concat(limitSubjects(), slowSubjects())) {
		numbers := c.services
		switch {
		case s.delay != nil:
			numbers = c.slow
		case s.only != nil:
			numbers = s.only
		}
		add := func(n int, phases []string) {
			if ctx.Err() != nil {
				return
			}
			got, err := underRates(ctx, control, s, n, phases)
			for _, r := range got {
				r.show()
			}
			rows = append(rows, got...)
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s %s, %d Services: %w", s.cloud, s.kind, n, err))
				fmt.Fprintln(os.Stderr, "bench:", err)
			}
		}
		for _, n := range numbers {
			add(n, c.phases)
		}
		if len(s.many) > 0 {
			for _, n := range c.many {
				add(n, s.many)
			}
		}
	}
	if ctx.Err() != nil {
		return failed
	}
	return errors.Join(failed, writeFile("limits.json", rows))
}

// measurePhases runs all phases for one kind of load balancer in a world of its own.
func measurePhases(ctx context.Context, s subject) (rows []row, err error) {
	world, err := harness.Start(ctx, harness.Options{Cloud: s.cloud, Nodes: s.machines(), Progress: os.Stderr, SimArgs: s.simArgs})
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
