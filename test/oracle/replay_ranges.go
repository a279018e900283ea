package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/test/harness"
)

// replayRanges edits the source ranges of a live Service to ranges of another family, and creates
// a Service that has only such. Octavia admits everyone to a listener without ranges, so Berth
// must refuse both, and write nothing.
func (w *walker) replayRanges(ctx context.Context) error {
	if err := w.configure("cluster"); err != nil {
		return err
	}
	if _, err := w.Controller("ranges", shortDrift); err != nil {
		return err
	}
	ranges := func(list ...string) func(*corev1.ServiceSpec) {
		return func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = list }
	}
	edit := func(list ...string) error {
		return w.Change(ctx, metav1.NamespaceDefault, "ranged", func(s *corev1.Service) { ranges(list...)(&s.Spec) })
	}
	const other = "2001:db8::/32"
	live := newService("ranged", nil, ranges("198.51.100.0/24"), newPort(corev1.ProtocolTCP, 80))
	closed := newService("closed", nil, ranges(other), newPort(corev1.ProtocolTCP, 80))
	if err := w.Create(ctx, live); err != nil {
		return err
	}
	before := []string{"TCP 80 for 198.51.100.0/24: TCP ROUND_ROBIN, 3 members", "floating IP"}
	if err := w.become(ctx, map[string][]string{"ranged": before}); err != nil {
		return err
	}
	mark := w.mark()
	if err := errors.Join(edit(other), w.Create(ctx, closed)); err != nil {
		return err
	}
	for _, name := range []string{"ranged", "closed"} {
		if err := w.reports(ctx, name, "Accepted=False", "spec.loadBalancerSourceRanges", other, "IPv4"); err != nil {
			return err
		}
	}
	if err := w.compared(ctx, w.mark()); err != nil {
		return err
	}
	if err := w.unchanged(mark); err != nil {
		return fmt.Errorf("there were writes, though both Services are refused: %w", err)
	}
	if err := w.sameShapes(ctx, map[string][]string{"ranged": before}); err != nil {
		return err
	}
	// What can be had is had at once.
	if err := edit(other, "192.0.2.0/24"); err != nil {
		return err
	}
	if err := w.become(ctx, map[string][]string{"ranged": {"TCP 80 for 192.0.2.0/24: TCP ROUND_ROBIN, 3 members", "floating IP"}}); err != nil {
		return err
	}
	if err := harness.Eventually(ctx, patience, w.Programmed(live)); err != nil {
		return err
	}
	return w.removeAll(ctx, live, closed)
}
