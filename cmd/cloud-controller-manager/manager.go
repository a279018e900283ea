package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/app"
	"k8s.io/cloud-provider/app/config"
	componentconfig "k8s.io/component-base/config"
	managerapp "k8s.io/controller-manager/app"
	"k8s.io/controller-manager/controller"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/lease"
	"github.com/berth-lb/berth/service/logkey"
	"github.com/berth-lb/berth/service/reconcile"
)

// manager joins the stock program and our loop.
type manager struct {
	flags   *flags
	cloud   providers.Bound
	classes []string // that the cloud's own controllers serve

	watchers service.Watchers

	fence    *lease.Fence    // nil: there is no leader election
	stopping context.Context // ends when the process receives the signal to stop
	stopped  chan struct{}   // closed when it may end
	loops    sync.WaitGroup
	leading  atomic.Pointer[reconcile.Reconciler] // nil: another replica leads
}

func newManager(f *flags) *manager { return &manager{flags: f} }

// stopAfter returns the channel that ends the stock program: after the signal,
// and after our loop has finished the calls that were in flight.
func (m *manager) stopAfter(signals context.Context) <-chan struct{} {
	m.stopping = signals
	m.stopped = make(chan struct{})
	go func() {
		<-signals.Done()
		klog.Info("stopping: waiting for calls in flight")
		done := make(chan struct{})
		go func() { m.loops.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(graceful):
			klog.Warning("stopping although calls are still in flight")
		}
		m.flush()
		close(m.stopped)
	}()
	return m.stopped
}

// open connects to the cloud. It ends the process if that is not possible:
// without a cloud there is nothing to do.
func (m *manager) open(c *config.CompletedConfig) cloudprovider.Interface {
	m.guard(c)
	shared := c.ComponentConfig.KubeCloudShared
	if err := m.watch(shared.CloudProvider.Name); err != nil {
		klog.Fatal(err)
	}
	env := providers.Env{Cluster: shared.ClusterName, UserAgent: "berth", Now: time.Now, AllowUntagged: shared.AllowUntaggedCloud,
		ClusterIDs: service.ClusterIDs(c.Client, true), Notes: service.NewNotes(c.Client), Pods: service.ListPods(c.Client), Tokens: service.AccountTokens(c.Client), Calls: m.calls(), Share: m.flags.apiShare, Waited: m.watchers.Metrics.Paced}
	cloud, err := m.connect(shared.CloudProvider.Name, shared.CloudProvider.CloudConfigFile, env)
	if err != nil {
		klog.Fatalf("cloud provider: %v", err)
	}
	m.cloud = cloud
	if err := m.serve(c); err != nil {
		klog.Fatalf("secure port: %v", err)
	}
	if err := m.serveWebhooks(c); err != nil {
		klog.Fatal(err)
	}
	if err := m.servePage(c); err != nil {
		klog.Fatal(err)
	}
	return idle{name: cloud.Name}
}

func (m *manager) connect(name, file string, env providers.Env) (providers.Bound, error) {
	entry, err := all.Find(name)
	if err != nil {
		return providers.Bound{}, fmt.Errorf("--cloud-provider: %w", err)
	}
	m.classes = entry.Classes
	var reader io.Reader
	if file != "" {
		f, err := os.Open(file)
		if err != nil {
			return providers.Bound{}, fmt.Errorf("--cloud-config: %w", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		reader = f
	}
	cloud, problems, err := entry.Open(context.Background(), reader, env)
	for _, p := range problems {
		klog.InfoS("the cloud configuration has a problem", logkey.Problem, p.String())
	}
	return cloud, err
}

// construct is called by the stock program for its service controller.
func (m *manager) construct(init app.ControllerInitContext, c *config.CompletedConfig, _ cloudprovider.Interface) app.InitFunc {
	return func(ctx context.Context, _ managerapp.ControllerContext) (controller.Interface, bool, error) {
		policies, err := m.flags.PlanPolicies()
		if err != nil {
			return nil, false, err
		}
		keepDrift, err := m.flags.KeepsDrift()
		if err != nil {
			return nil, false, err
		}
		admission, err := service.NewAdmission(m.flags.PolicyConfig, m.flags.AllowedNamespaces, m.cloud)
		if err != nil {
			return nil, false, fmt.Errorf("--policy-config: %w", err)
		}
		client := c.ClientBuilder.ClientOrDie(init.ClientName)
		custom, err := dynamic.NewForConfig(c.ClientBuilder.ConfigOrDie(init.ClientName))
		if err != nil {
			return nil, false, err
		}
		recorder := c.EventBroadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "berth"})
		r := reconcile.New(m.cloud, reconcile.Options{Policies: policies, DriftInterval: m.flags.driftInterval, KeepDrift: keepDrift, Admit: admission.Judge, Join: m.join(), Lateness: reconcile.LeaderLateness, Fence: m.writable()})
		loop, err := service.New(client, c.SharedInformers, r, recorder, service.Options{
			Classes:   m.claims(c.ComponentConfig.Generic.LeaderElection),
			Custom:    custom,
			Admission: admission,
			Watchers:  m.watchers,
			Workers:   workerCount(c.ComponentConfig.ServiceController.ConcurrentServiceSyncs),
			DryRun:    m.flags.DryRun,
			OwnPods:   m.flags.OwnPods,
			PodGates:  m.flags.ReadinessGates,
			Fence:     m.writable(),
		})
		if err != nil {
			return nil, false, err
		}
		m.leading.Store(r)
		m.start(ctx, loop)
		return nil, true, nil
	}
}

// claims say which Services are ours. Installations that work at the same time have
// different Leases, so its name is theirs.
func (m *manager) claims(lease componentconfig.LeaderElectionConfiguration) service.Classes {
	out := m.flags.Serves(m.classes)
	out.Installation = lease.ResourceNamespace + "/" + lease.ResourceName
	return out
}

// start runs the loop until leadership or the process ends.
func (m *manager) start(ctx context.Context, loop *service.Controller) {
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(m.stopping, cancel)
	m.watchers.Health.Lead()
	m.loops.Go(func() {
		defer cancel()
		if err := loop.Run(ctx); err != nil && ctx.Err() == nil {
			klog.ErrorS(err, "the service loop has ended")
		}
	})
}

// workerCount returns the number of Services that are reconciled at a time. The stock
// default of 1 means that the flag was not set.
func workerCount(flag int32) int {
	if flag <= 1 {
		return 0
	}
	return int(flag)
}
