package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// settled returns nil once a restarted controller has reconciled every Service, and none is
// queued.
func (s *scale) settled(ctx context.Context, _ calls) error {
	now, err := s.page.Sum(ctx, "berth_reconcile_duration_seconds_count", "berth_queue_depth")
	if err != nil {
		return err
	}
	looked, waiting := now[0], now[1]
	if looked < s.subject.services || waiting > 0 {
		return fmt.Errorf("%d of %d Services were looked at, %d wait", looked, s.subject.services, waiting)
	}
	return nil
}

// programmed answers nil once every Service has its load balancer.
func (s *scale) programmed(all []corev1.Service) effect {
	answer := s.world.Programmed(all...)
	return func(ctx context.Context, _ calls) error { return answer(ctx) }
}

// registered answers nil once a new machine is behind every load balancer, or has
// begun to be where they share it.
func (s *scale) registered(ctx context.Context, before calls) error {
	now, err := s.counted(ctx)
	if err != nil {
		return err
	}
	want := 1
	if s.subject.apart {
		want = s.subject.services
	}
	if got := now.since(before).Writes; got < want {
		return fmt.Errorf("%d of %d writes for the new machine", got, want)
	}
	return nil
}
