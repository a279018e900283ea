package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/harness"
)

const (
	// quiet is how long nothing must happen in the cloud for a phase to be over:
	// longer than node changes gather.
	quiet = 3 * time.Second
	limit = 3 * time.Minute
)

type bench struct {
	world   *harness.World
	subject subject
	rows    []row
}

// phase acts, waits until it has taken effect and all is quiet, and counts.
func (b *bench) phase(ctx context.Context, name string, n int, act, effect func(context.Context) error) error {
	meter, err := b.world.Sim.Meter(ctx)
	if err != nil {
		return err
	}
	if err := act(ctx); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if slices.Contains(ofNodes(), name) { // Services are as they were until the controller has noticed
		effect = func(ctx context.Context) error { return mustCall(ctx, meter) }
	}
	if err := harness.Eventually(ctx, limit, effect); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	calls, err := meter.Settle(ctx, b.subject.quiet(), limit)
	if err != nil {
		return fmt.Errorf("%s of %d: %w: %v", name, n, err, calls.ByOperation)
	}
	b.rows = append(b.rows, newRow(b.subject, name, n, calls))
	return nil
}

// ofNodes lists the phases in which a node is added or deleted.
func ofNodes() []string { return []string{"delnode", "addnode"} }

// mustCall fails until the cloud was called.
func mustCall(ctx context.Context, meter *harness.Meter) error {
	calls, err := meter.Read(ctx)
	if err == nil && calls.All == 0 {
		err = errors.New("the controller has not called the cloud yet")
	}
	return err
}

// life measures ten Services from creation to deletion.
func (b *bench) life(ctx context.Context) error {
	controller, err := b.world.Controller("bench", b.subject.flags()...)
	if err != nil {
		return err
	}
	all := b.subject.services("life", services)
	node, err := b.world.SeedNodes()
	if err != nil {
		return err
	}
	gone := node[len(node)-1]
	programmed := b.world.Programmed(all...)
	steps := []struct {
		name        string
		act, effect func(context.Context) error
	}{
		{"create", func(ctx context.Context) error { return b.world.Create(ctx, all...) }, programmed},
		{"touch", func(ctx context.Context) error { return b.each(ctx, all, touchService) }, programmed},
		{"port", func(ctx context.Context) error { return b.each(ctx, all, addPort) }, programmed},
		{"delnode", func(ctx context.Context) error { return b.world.LeaveNode(ctx, gone.Name) }, programmed},
		{"addnode", func(ctx context.Context) error { return b.world.JoinNode(ctx, &gone) }, programmed},
		{"delete", func(ctx context.Context) error { return b.world.Delete(ctx, all...) }, b.world.Gone(all...)},
	}
	for _, s := range steps {
		if err := b.phase(ctx, s.name, services, s.act, s.effect); err != nil {
			return err
		}
	}
	return controller.Stop(limit)
}

// crowd measures how a number of Services is made and deleted together.
func (b *bench) crowd(ctx context.Context, n int) error {
	controller, err := b.world.Controller("crowd", b.subject.flags()...)
	if err != nil {
		return err
	}
	all := b.subject.services(fmt.Sprintf("crowd-%d", n), n)
	create := func(ctx context.Context) error { return b.world.Create(ctx, all...) }
	if err := b.phase(ctx, "create", n, create, b.world.Programmed(all...)); err != nil {
		return err
	}
	remove := func(ctx context.Context) error { return b.world.Delete(ctx, all...) }
	if err := b.phase(ctx, "delete", n, remove, b.world.Gone(all...)); err != nil {
		return err
	}
	return controller.Stop(limit)
}

func (b *bench) each(ctx context.Context, all []corev1.Service, change func(*corev1.Service)) error {
	for _, s := range all {
		if err := b.world.Change(ctx, s.Namespace, s.Name, change); err != nil {
			return err
		}
	}
	return nil
}

// touchService changes an annotation that has no meaning to any controller here.
func touchService(svc *corev1.Service) {
	if svc.Annotations == nil {
		svc.Annotations = map[string]string{}
	}
	svc.Annotations["example.com/touched"] = "yes"
}

func addPort(svc *corev1.Service) { svc.Spec.Ports = append(svc.Spec.Ports, newPort("third", 8443)) }

// restart measures a restart with many Services in place and nothing to do.
func (b *bench) restart(ctx context.Context) error {
	all := b.subject.services("many", restarts)
	controller, err := b.world.Controller("before", b.subject.flags()...)
	if err != nil {
		return err
	}
	if err := b.world.Create(ctx, all...); err != nil {
		return err
	}
	if err := harness.Eventually(ctx, limit, b.world.Programmed(all...)); err != nil {
		return err
	}
	if err := controller.Stop(limit); err != nil {
		return err
	}
	meter, err := b.world.Sim.Meter(ctx)
	if err != nil {
		return err
	}
	start := func(context.Context) error {
		controller, err = b.world.Controller("after", b.subject.flags()...)
		return err
	}
	asked := func(ctx context.Context) error { return mustCall(ctx, meter) }
	if err := b.phase(ctx, "restart", restarts, start, asked); err != nil {
		return err
	}
	return controller.Stop(limit)
}
