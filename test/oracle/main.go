package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

func main() {
	keep := flag.String("keep", "", "folder for the files and logs of the servers, which is kept; empty: a temporary one")
	walks := flag.Bool("walk", true, "let Berth create, change and delete Services on the real cloud")
	replays := flag.String("replay", ".", "replay on the real cloud the faults whose names match this regular expression: ranges, groups, error; ^$ for none")
	crash := flag.Bool("crash", false, "replay a crash on a slow Octavia as well, for which the machine must be idle: calls must end within two minutes")
	serve := flag.Bool("serve", false, "only start the real cloud, in the folder of -keep, until the program is interrupted")
	at := flag.String("at", "", "folder of a real cloud that -serve has started; it is asked instead of a new one")
	flag.Parse()
	selected, err := regexp.Compile(*replays)
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = runCommand(ctx, options{keep: *keep, at: *at, serve: *serve, walks: *walks, replays: selected, crash: *crash})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

type options struct {
	keep, at            string
	replays             *regexp.Regexp // of names
	serve, walks, crash bool
}

func runCommand(ctx context.Context, o options) (err error) {
	if o.at != "" {
		r, c, err := attachCloud(ctx, o.at)
		if err != nil {
			return err
		}
		return examineCloud(ctx, r, c, o)
	}
	if reason := providePackages(ctx, os.Stdout); reason != "" {
		fmt.Println("oracle: nothing was compared with a real OpenStack:", reason)
		return nil
	}
	dir := o.keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "oracle-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	began := time.Now()
	fmt.Println("starting Keystone, Neutron and Octavia")
	r, err := startReal(ctx, dir)
	defer r.stop()
	if err != nil {
		return err
	}
	c, err := r.furnish(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("the servers are ready after %.0f s: %s, user %s, password %s, project %s\n", time.Since(began).Seconds(), r.Identity, userName, userPassword, projectName)
	if o.serve {
		if err := r.detach(c); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	return examineCloud(ctx, r, c, o)
}

// examineCloud compares the clouds, and runs Berth.
func examineCloud(ctx context.Context, r *deployment, c *cloud, o options) error {
	if err := compareBoth(ctx, r, c); err != nil || !o.walks && !o.crash && len(o.faults()) == 0 {
		return err
	}
	return runBerth(ctx, r, c, o)
}

// attached is what another process must know to use a real cloud.
type attached struct {
	Identity string            `json:"identity"`
	Known    map[string]string `json:"known"`
}

// detach writes what attach reads.
func (r *deployment) detach(c *cloud) error {
	body, err := json.Marshal(attached{r.Identity, c.known})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.Dir, "attach.json"), body, 0o600)
}

// attachCloud opens a real cloud that runs already. It has no journal.
func attachCloud(ctx context.Context, dir string) (*deployment, *cloud, error) {
	body, err := os.ReadFile(filepath.Join(dir, "attach.json"))
	if err != nil {
		return nil, nil, err
	}
	var a attached
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, nil, err
	}
	c, err := openCloud(ctx, "real", a.Identity, userName, userPassword, projectName)
	if err != nil {
		return nil, nil, err
	}
	c.known = a.Known
	return &deployment{Dir: dir, Identity: a.Identity, journal: newJournal()}, c, nil
}

// compareBoth plays the script to the real cloud and to a new simulated one.
func compareBoth(ctx context.Context, r *deployment, other *cloud) error {
	steps, err := parseScript(probe)
	if err != nil {
		return err
	}
	sim, err := startSimulation(ctx)
	if err != nil {
		return err
	}
	defer sim.stop()
	if err := r.hold(true); err != nil {
		return err
	}
	defer func() { _ = r.hold(false) }() // the remaining work is not awaited
	other.ready = func(ctx context.Context) error {
		if err := r.hold(false); err != nil {
			return err
		}
		if err := other.settled(ctx); err != nil {
			return err
		}
		return r.hold(true)
	}
	got, err := compareClouds(ctx, os.Stdout, steps, sim.cloud, other)
	if err != nil {
		return err
	}
	fmt.Printf("compared %d requests: %d differences, and %d that are known\n", got.requests, got.differences, got.accepted)
	if got.differences > 0 {
		return fmt.Errorf("the simulated cloud answers otherwise than the real one in %d places", got.differences)
	}
	return nil
}

// hold makes changes of the real cloud's load balancers wait, or go on.
func (r *deployment) hold(on bool) error {
	file := filepath.Join(r.Dir, "hold")
	if on {
		return os.WriteFile(file, nil, 0o600)
	}
	if err := os.Remove(file); !os.IsNotExist(err) {
		return err
	}
	return nil
}
