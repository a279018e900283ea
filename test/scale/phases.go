package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-lb/berth/test/harness"
)

const (
	// quiet is how long nothing must happen in the cloud for a phase to be over:
	// longer than node changes gather.
	quiet = 5 * time.Second
	limit = 20 * time.Minute
	// clients is how many requests of ours the API server works on at a time.
	clients = 8
)

// scale is a measurement in progress.
type scale struct {
	world           *harness.World
	services, nodes int
	rows            []row
	controller      *harness.Process
	port            int // of the controller's metrics
}

// effect answers nil once a phase has had its effect.
type effect func(context.Context, *harness.Meter) error

// measure runs the phases in their order. What was measured before an error stays.
func (s *scale) measure(ctx context.Context) error {
	node, err := s.world.SeedNodes()
	if err != nil {
		return err
	}
	all := subjects(s.services)
	last := node[len(node)-1]
	if err := s.world.LeaveNode(ctx, last.Name); err != nil {
		return err
	}
	if err := s.start(ctx, "fresh"); err != nil {
		return err
	}
	steps := []struct {
		name   string
		act    func(context.Context) error
		effect effect
	}{
		{"create", func(ctx context.Context) error { return s.create(ctx, all) }, s.programmed(all)},
		{"heartbeat", func(ctx context.Context) error { return s.heartbeats(ctx, node[:len(node)-1]) }, nil},
		{"node", func(ctx context.Context) error { return s.world.JoinNode(ctx, &last) }, s.registered},
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
	before, err := s.controller.Usage()
	if err != nil {
		return err
	}
	meter, err := s.world.Sim.Meter(ctx)
	if err != nil {
		return err
	}
	first, began := s.controller, time.Now()
	if err := act(ctx); err != nil {
		return err
	}
	if effect != nil {
		if err := harness.Eventually(ctx, limit, func(ctx context.Context) error { return effect(ctx, meter) }); err != nil {
			return err
		}
	}
	took := time.Since(began)
	calls, err := s.calls(ctx, meter, s.controller != first)
	if err != nil {
		return err
	}
	after, err := s.controller.Usage()
	if err != nil {
		return err
	}
	if s.controller != first { // a process of its own, whose counts began at zero
		before = harness.Usage{}
	}
	if err := s.profile(ctx, name); err != nil {
		return err
	}
	s.rows = append(s.rows, row{
		Phase: name, Seconds: took.Seconds(), CPUSeconds: (after.CPU - before.CPU).Seconds(),
		ResidentMiB: mebibytes(after.Resident), PeakMiB: mebibytes(after.Peak), Calls: calls.All, Writes: calls.Writes,
	})
	return nil
}

// calls are those of a phase: until all is quiet, but of a process that was started
// anew until now, because it goes on to read what it has only looked at.
func (s *scale) calls(ctx context.Context, meter *harness.Meter, anew bool) (harness.Calls, error) {
	if anew {
		return meter.Read(ctx)
	}
	return meter.Settle(ctx, quiet, limit)
}

// start starts the controller, with its metrics and profiles open to anybody.
func (s *scale) start(ctx context.Context, name string) (err error) {
	if s.port, err = freePort(ctx); err != nil {
		return err
	}
	s.controller, err = s.world.Controller(name, "--kube-api-qps=1000", "--kube-api-burst=2000",
		"--bind-address=127.0.0.1", "--secure-port="+strconv.Itoa(s.port), "--cert-dir="+s.world.Dir, "--profiling=true",
		"--authorization-always-allow-paths=/metrics,/debug/pprof/*")
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

// subjects are Services with one port each.
func subjects(n int) []corev1.Service {
	var out []corev1.Service
	for i := range n {
		out = append(out, corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: fmt.Sprintf("scale-%d", i)},
			Spec: corev1.ServiceSpec{
				Type:     corev1.ServiceTypeLoadBalancer,
				Selector: map[string]string{"app": "scale"},
				Ports:    []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}},
			},
		})
	}
	return out
}
