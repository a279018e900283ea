package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/test/harness"
)

const (
	// quiet is how long nothing must happen in the cloud for a phase to be over:
	// longer than node changes gather.
	quiet = 5 * time.Second
	limit = 20 * time.Minute
	// look is the interval of the checks for the end of a phase.
	look = 500 * time.Millisecond
	// clients is how many requests of ours the API server works on at a time.
	clients = 8
)

// scale is a measurement in progress.
type scale struct {
	world      *harness.World
	subject    subject
	rows       []row
	controller *harness.Process
	page       harness.Page // the controller's
	empty      float64      // mebibytes in memory before the first Service
}

// effect answers nil once a phase has had its effect.
type effect func(ctx context.Context, before calls) error

// step is a phase that is to be measured.
type step struct {
	name   string
	act    func(context.Context) error
	effect effect
}

// measure runs the phases in their order. What was measured before an error stays.
func (s *scale) measure(ctx context.Context) error {
	node, err := s.world.SeedNodes()
	if err != nil {
		return err
	}
	all := s.subject.all()
	last := node[len(node)-1]
	create, changes := s.create, step{"node", func(ctx context.Context) error { return s.world.JoinNode(ctx, &last) }, s.registered}
	if s.subject.pods > 0 {
		create, changes = s.createWithPods, step{"pods", s.leavePods, s.registered}
	} else if err := s.world.LeaveNode(ctx, last.Name); err != nil {
		return err
	}
	if s.subject.chosen {
		changes.effect = nil
	}
	if err := s.start(ctx, "fresh"); err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	usage, err := s.controller.Usage()
	if err != nil {
		return err
	}
	s.empty = toMebibytes(usage.Resident)
	steps := []step{
		{"create", func(ctx context.Context) error { return create(ctx, all) }, s.programmed(all)},
		{"heartbeat", func(ctx context.Context) error { return s.heartbeats(ctx, node[:len(node)-1]) }, nil},
		changes,
		{"restart", s.restart, s.settled},
	}
	for _, step := range steps {
		if err := s.phase(ctx, step.name, step.act, step.effect); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return s.controller.Stop(limit)
}

// phase acts, waits for the effect and for silence in the cloud, and notes what
// the controller took for it.
func (s *scale) phase(ctx context.Context, name string, act func(context.Context) error, effect effect) error {
	first := s.controller
	before, err := s.state(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := act(ctx); err != nil {
		return err
	}
	defer s.cpuProfile(ctx, name)()
	if effect != nil {
		if err := pollUntil(ctx, func(ctx context.Context) error { return effect(ctx, before.calls) }); err != nil {
			return err
		}
	}
	took := time.Since(began)
	if s.controller == first {
		if err := s.settle(ctx); err != nil {
			return err
		}
	} else { // it continues with full reads after presence checks, and began at zero
		before.usage = harness.Usage{}
	}
	after, err := s.state(ctx)
	if err != nil {
		return err
	}
	if err := s.heapProfile(ctx, name); err != nil {
		return err
	}
	made := after.calls.since(before.calls)
	s.rows = append(s.rows, row{
		Phase: name, Seconds: took.Seconds(), CPUSeconds: (after.usage.CPU - before.usage.CPU).Seconds(), CloudCPU: (after.cloud - before.cloud).Seconds(),
		ResidentMiB: toMebibytes(after.usage.Resident), OwnMiB: toMebibytes(after.usage.Own), PeakMiB: toMebibytes(after.usage.Peak), Calls: made.All, Writes: made.Writes,
	})
	return nil
}

// state is what was used and called until now.
type state struct {
	usage harness.Usage
	cloud time.Duration // processor time of the simulator
	calls calls
}

func (s *scale) state(ctx context.Context) (now state, err error) {
	if now.usage, err = s.controller.Usage(); err != nil {
		return now, err
	}
	cloud, err := s.world.Sim.Usage()
	if err != nil {
		return now, err
	}
	now.cloud = cloud.CPU
	now.calls, err = s.counted(ctx)
	return now, err
}

// start starts the controller, with its metrics and profiles open without authentication.
func (s *scale) start(ctx context.Context, name string) (err error) {
	if s.page, err = harness.NewPage(ctx); err != nil {
		return err
	}
	flags := append([]string{"--kube-api-qps=1000", "--kube-api-burst=2000"}, s.page.Flags(s.world)...)
	s.controller, err = s.world.Controller(name, flags...)
	return err
}

func (s *scale) restart(ctx context.Context) error {
	if err := s.controller.Stop(limit); err != nil {
		return err
	}
	return s.start(ctx, "again")
}

// create creates the Services, several at a time.
func (s *scale) create(ctx context.Context, all []corev1.Service) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(clients)
	for _, svc := range all {
		group.Go(func() error { return s.world.Create(ctx, svc) })
	}
	return group.Wait()
}

// heartbeats writes to the status of every Node what kubelets write every few
// minutes: nothing that a load balancer depends on.
func (s *scale) heartbeats(ctx context.Context, nodes []corev1.Node) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(clients)
	beat := time.Now().UTC().Format(time.RFC3339)
	patch := []byte(`{"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"` + beat + `"}]}}`)
	for _, n := range nodes {
		group.Go(func() error {
			_, err := s.world.Client.CoreV1().Nodes().Patch(ctx, n.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
			return err
		})
	}
	return group.Wait()
}
