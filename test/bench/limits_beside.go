package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/sim"
)

const (
	// beside is the phase in which a user changes one Service: alone without rates, and
	// beside a restart of all at the documented rates.
	beside = "beside"
	// mostBeside is how much later a user's change may be planned beside others than
	// alone, in seconds.
	mostBeside = 0.3
)

// change is a user's change of one Service, with its time and its effect.
type change struct {
	at  time.Time
	err error
}

// user adds a port to the last Service: what follows first is a write that no restart makes.
func (p *pass) user(ctx context.Context) change {
	svc, at := p.all[len(p.all)-1], time.Now()
	return change{at, p.world.Change(ctx, svc.Namespace, svc.Name, func(svc *corev1.Service) {
		p.observer.changes(svc.UID)
		addPort(svc)
	})}
}

// amid makes the change when half of the time has passed that the restart needs.
func (p *pass) amid(ctx context.Context) {
	select {
	case <-ctx.Done():
		p.change <- change{err: ctx.Err()}
	case <-time.After(idealTime(p.rates, p.free["restart"]) / 2):
		p.change <- p.user(ctx)
	}
}

// beside notes how long it takes from the change to its first write.
func (p *pass) beside(ctx context.Context, node *member) error {
	if p.free == nil {
		var made change
		alone := step{beside, nil, func(ctx context.Context) error { made = p.user(ctx); return made.err }, p.world.Programmed(p.all...), node}
		if err := p.phase(ctx, alone); err != nil {
			return err
		}
		return p.planned(made, p.done[beside].calls)
	}
	made := <-p.change
	if made.err != nil {
		return made.err
	}
	return p.planned(made, p.done["restart"].calls)
}

// planned notes the first write after the change that the restart alone does not make.
func (p *pass) planned(made change, calls []sim.Entry) error {
	restart := p.done["restart"].calls
	if p.free != nil {
		restart = p.free["restart"].calls
	}
	usual := map[string]bool{}
	for _, e := range restart {
		usual[e.Operation] = true
	}
	for _, e := range calls {
		if e.Write && !usual[e.Operation] && e.Time.After(made.at) {
			p.keep(beside, measured{took: e.Time.Sub(made.at), ended: true})
			return nil
		}
	}
	return fmt.Errorf("no write follows the change of %s", p.all[len(p.all)-1].Name)
}
