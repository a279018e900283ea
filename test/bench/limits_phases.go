package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim"
)

const (
	// lookEvery is how often a phase is looked at: what looks takes the machine from
	// what is looked at.
	lookEvery = 500 * time.Millisecond
	// A phase at the documented rates may take the ideal time so many times, and
	// this long more, before it counts as one that does not end.
	patience, grace = 4, time.Minute
)

// step is a phase: its preparation, its cause, the condition for its effect, and its node. At
// the documented rates the cloud must name that node as often as without.
type step struct {
	name        string
	prepare     func(context.Context) error // nil: nothing
	act, effect func(context.Context) error
	node        *member
}

// over is the effect of the step in the pass.
func (p *pass) over(s step) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := s.effect(ctx); err != nil || p.free == nil {
			return err
		}
		now, err := s.node.count(ctx)
		if want := p.free[s.name].members; err == nil && now != want {
			err = fmt.Errorf("%s is named %d times, want %d", s.node.mark, now, want)
		}
		return err
	}
}

// limited is whether the phase is measured at the documented rates in this pass.
func (p *pass) limited(phase string) bool {
	return p.free != nil && slices.Contains(p.wanted, phase)
}

// throttle sets full buckets for a phase at the rates, and none for another.
func (p *pass) throttle(ctx context.Context, phase string) error {
	if p.limited(phase) {
		return p.world.Sim.Throttle(ctx, p.rates...)
	}
	return p.world.Sim.Throttle(ctx)
}

// limit is how long a phase may take.
func (p *pass) limit(phase string) time.Duration {
	if !p.limited(phase) {
		return limit
	}
	if p.subject.delay != nil {
		return 3 * limit
	}
	return patience*idealTime(p.rates, p.free[phase]) + grace
}

// phase acts and waits until the effect is visible and no more calls arrive.
func (p *pass) phase(ctx context.Context, s step) error {
	if s.prepare != nil {
		if err := s.prepare(ctx); err != nil {
			return err
		}
	}
	if _, err := p.calls(ctx); err != nil {
		return err
	}
	before, err := p.observer.tally(ctx)
	if err != nil {
		return err
	}
	if err := p.throttle(ctx, s.name); err != nil {
		return err
	}
	m, began := measured{}, time.Now()
	if err := s.act(ctx); err != nil {
		return err
	}
	effect := p.over(s)
	if m.calls, m.ended, err = p.settle(ctx, p.limit(s.name), p.silence, effect); err != nil {
		return err
	}
	m.took = phaseDuration(began, m)
	if !m.ended && p.free == nil {
		return fmt.Errorf("does not end: %w", effect(ctx))
	}
	if !m.ended { // the next phase needs it done
		if err := p.recover(ctx, effect); err != nil {
			return err
		}
	}
	if m.members, err = s.node.count(ctx); err != nil {
		return err
	}
	after, err := p.observer.tally(ctx)
	m.tally = after.since(before)
	p.keep(s.name, m)
	return err
}

// keep records the result of a phase, and reports it to readers waiting for the table.
func (p *pass) keep(phase string, m measured) {
	m.job = p.subject.job
	p.done[phase] = m
	fmt.Fprintf(os.Stderr, "%s of %d %s: %.1f s, %d calls, rates on: %v\n", phase, len(p.all), p.subject.kind, m.took.Seconds(), len(m.calls), p.limited(phase))
}

// phaseDuration returns the duration of a phase: to its last call, or so far if it does
// not end.
func phaseDuration(began time.Time, m measured) time.Duration {
	if !m.ended || len(m.calls) == 0 {
		return time.Since(began)
	}
	return m.calls[len(m.calls)-1].Time.Sub(began)
}

// recover lets the phase end without rates.
func (p *pass) recover(ctx context.Context, effect func(context.Context) error) error {
	if err := p.world.Sim.Throttle(ctx); err != nil {
		return err
	}
	_, ended, err := p.settle(ctx, 2*limit, p.silence, effect)
	if err == nil && !ended {
		err = fmt.Errorf("does not end without rates either: %w", effect(ctx))
	}
	return err
}

// settle waits until calls were made, the effect is visible and it has been quiet for some
// time. It returns the calls since its start, and whether it settled within the time.
func (p *pass) settle(ctx context.Context, within, silence time.Duration, effect func(context.Context) error) (all []sim.Entry, ended bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for silent := time.Now(); ; {
		more, err := p.calls(context.WithoutCancel(ctx))
		if err != nil {
			return all, false, err
		}
		if all = append(all, more...); len(more) > 0 {
			silent = time.Now()
		}
		if len(all) > 0 && time.Since(silent) >= silence && effect(ctx) == nil {
			return all, true, nil
		}
		select {
		case <-ctx.Done():
			return all, false, nil
		case <-tick.C:
		}
	}
}

// calls are those since it was asked before, without those for tokens.
func (p *pass) calls(ctx context.Context) (out []sim.Entry, err error) {
	more, err := p.world.Sim.Journal(ctx, p.seen)
	if err != nil {
		return nil, err
	}
	if len(more) > 0 {
		p.seen = more[len(more)-1].Seq
	}
	tokens := []string{"oauth2", "metadata", "login", "sts", "identity"}
	return slices.DeleteFunc(more, func(e sim.Entry) bool { return slices.Contains(tokens, e.Service) }), nil
}

// plan runs the command line for all Services, which must have nothing to do.
func (p *pass) plan(ctx context.Context) error {
	if _, err := p.calls(ctx); err != nil {
		return err
	}
	if err := p.throttle(ctx, "plan"); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, p.limit("plan"))
	defer cancel()
	args := append([]string{
		"plan", "-A", "--provider", p.subject.cloud, "--cloud-config", filepath.Join(p.world.Sim.Dir, "cloud.conf"), "--kubeconfig", p.world.Cluster.Kubeconfig(""),
	}, p.subject.flags()...)
	cmd := exec.CommandContext(bounded, p.world.Binaries.Berth, args...)
	cmd.Env = append(os.Environ(), p.world.Credentials()...)
	began := time.Now()
	said, failed := cmd.CombinedOutput()
	m := measured{took: time.Since(began), ended: failed == nil}
	if failed != nil {
		m.took = p.limit("plan") // an answer that is none does not count as a quick one
		text := strings.TrimSpace(string(said))
		fmt.Fprintf(os.Stderr, "plan of %d Services: %v: %s\n", len(p.all), failed, text[max(0, len(text)-500):])
	}
	var err error
	m.calls, err = p.calls(ctx)
	p.keep("plan", m)
	return err
}

// drift lets the checks of all Services become due at the same moment, and measures
// them. After a restart they are spread over an interval; so the process is stopped for
// that long.
func (p *pass) drift(ctx context.Context) error {
	if err := p.world.Sim.Throttle(ctx); err != nil {
		return err
	}
	if err := p.controller.Stop(limit); err != nil {
		return err
	}
	interval := 30*time.Second + time.Duration(len(p.all))*100*time.Millisecond
	if p.free != nil {
		interval += 2 * idealTime(p.rates, p.free["drift"])
	}
	if err := p.start(ctx, []string{"drift"}, "--drift-interval="+interval.String()); err != nil {
		return err
	}
	if _, ended, err := p.settle(ctx, limit, quiet, p.world.Programmed(p.all...)); err != nil {
		return err
	} else if !ended {
		return errors.New("calls go on after the restart")
	}
	if err := p.controller.Freeze(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(interval):
	}
	return p.check(ctx)
}

// check lets the process go on and measures until every Service was read once.
func (p *pass) check(ctx context.Context) error {
	before, err := p.observer.tally(ctx)
	if err != nil {
		return err
	}
	if err := p.throttle(ctx, "drift"); err != nil {
		return err
	}
	if _, err := p.calls(ctx); err != nil {
		return err
	}
	began := time.Now()
	if err := p.controller.Thaw(); err != nil {
		return err
	}
	m := measured{}
	m.calls, m.ended, err = p.settle(ctx, p.limit("drift"), quiet, func(ctx context.Context) error {
		now, err := p.page.Sum(ctx, "berth_drift_checks_total")
		if err == nil && now[0] < len(p.all) {
			err = fmt.Errorf("%d of %d Services were checked", now[0], len(p.all))
		}
		return err
	})
	if err != nil {
		return err
	}
	m.took = phaseDuration(began, m)
	after, err := p.observer.tally(ctx)
	m.tally = after.since(before)
	p.keep("drift", m)
	return err
}
