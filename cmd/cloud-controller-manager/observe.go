package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/health"
	"github.com/berth-lb/berth/service/logkey"
	"github.com/berth-lb/berth/service/metrics"
	"github.com/berth-lb/berth/service/tracing"
	"github.com/berth-lb/berth/stack"
)

// commit is stamped by the linker.
var commit string

// watchFlags are the flags about what can be seen of the program.
type watchFlags struct {
	tracing string
	traced  float64
	stuck   time.Duration
}

func (f *watchFlags) register(set *pflag.FlagSet) {
	set.StringVar(&f.tracing, "tracing-endpoint", "", "host:port of a collector to which traces are sent, by OTLP over gRPC without TLS; without it nothing is traced")
	set.Float64Var(&f.traced, "tracing-ratio", 1, "share of the runs over Services that is traced, between 0 and 1")
	set.DurationVar(&f.stuck, "stuck-after", 15*time.Minute, "how long one Service may be worked on, and how long Services may wait while no worker gets on, until /healthz fails")
}

// flushLimit is how long the process waits at its end for a collector.
const flushLimit = 3 * time.Second

// watch starts what looks at the program; the cloud is not open yet.
func (m *manager) watch(provider string) error {
	build := metrics.Build{Version: version.Get().GitVersion, Commit: cmp.Or(commit, buildRevision()), Go: runtime.Version()}
	tracer, err := tracing.Start(context.Background(), tracing.Options{Endpoint: m.flags.watch.tracing, Ratio: m.flags.watch.traced, Provider: provider, Version: build.Version})
	if err != nil {
		return fmt.Errorf("--tracing-endpoint, --tracing-ratio: %w", err)
	}
	if tracer != nil {
		klog.InfoS("traces are sent", logkey.Endpoint, m.flags.watch.tracing)
	}
	m.watchers = service.Watchers{
		Metrics: metrics.New(provider, build, clock.RealClock{}),
		Tracer:  tracer,
		Health:  health.New(health.Options{Clock: clock.RealClock{}, Stuck: m.flags.watch.stuck, Probe: m.probe}),
	}
	m.watchers.Metrics.Watch(metrics.Sources{Health: m.checks})
	legacyregistry.Registerer().MustRegister(m.watchers.Metrics)
	return nil
}

// calls returns the observer of every call to the cloud.
func (m *manager) calls() providers.Observe {
	all := []providers.Observe{m.watchers.Metrics.Call, m.watchers.Health.Call}
	if m.watchers.Tracer != nil {
		all = append(all, m.watchers.Tracer.Call)
	}
	return providers.Observers(all...)
}

// join returns nil unless tracing is on.
func (m *manager) join() func([]context.Context) context.Context {
	if m.watchers.Tracer == nil {
		return nil
	}
	return m.watchers.Tracer.Join
}

// probe asks the cloud for what a Service has that does not exist: a read that
// every provider can do and that takes credentials.
func (m *manager) probe(ctx context.Context) error {
	probeOwner := stack.Owner{Namespace: "kube-system", Name: "berth-readyz", UID: "00000000-0000-0000-0000-000000000000"}
	for _, found := range m.cloud.Read(ctx, []providers.Scope{m.cloud.OwnedScope(probeOwner, nil)}) {
		if found.Err != nil {
			return found.Err
		}
	}
	return nil
}

// checks are those of /readyz and /healthz, for the metrics.
func (m *manager) checks() (leads bool, out map[string]bool) {
	report := m.watchers.Health.Ready()
	out = map[string]bool{"workers": m.watchers.Health.Alive() == nil}
	for _, c := range report.Checks {
		out[c.Name] = c.Well
	}
	return report.Leads, out
}

// flush sends the traces that are left.
func (m *manager) flush() {
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	if err := m.watchers.Tracer.Shutdown(ctx); err != nil {
		klog.ErrorS(err, "traces are lost")
	}
}

// buildRevision returns the commit that Go recorded, if the program was built in a
// repository.
func buildRevision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
