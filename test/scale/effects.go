package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// settled answers nil once a controller that was started anew has looked at every
// Service, and none waits to be looked at.
func (s *scale) settled(ctx context.Context, _ calls) error {
	page, err := s.fetch(ctx, "/metrics")
	if err != nil {
		return err
	}
	looked, waiting := sum(page, "berth_reconcile_duration_seconds_count"), sum(page, "berth_queue_depth")
	if looked < s.subject.services || waiting > 0 {
		return fmt.Errorf("%d of %d Services were looked at, %d wait", looked, s.subject.services, waiting)
	}
	return nil
}

// sum adds a metric over all its labels.
func sum(page []byte, name string) int {
	total := 0.0
	for line := range strings.Lines(string(page)) {
		if rest, ok := strings.CutPrefix(line, name); ok && strings.HasPrefix(rest, "{") {
			if fields := strings.Fields(rest); len(fields) > 1 {
				n, _ := strconv.ParseFloat(fields[len(fields)-1], 64) // the page holds numbers
				total += n
			}
		}
	}
	return int(total)
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
