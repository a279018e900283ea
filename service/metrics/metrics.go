package metrics

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
)

// Build says what runs.
type Build struct{ Version, Commit, Go string }

// Metrics are the metrics of one process, for one cloud. All methods do nothing
// on a nil pointer, so that callers without metrics need no other code. It is
// a prometheus.Collector and safe for concurrent use.
type Metrics struct {
	clock   clock.PassiveClock
	vectors []prometheus.Collector
	gauges  gauges
	sources atomic.Pointer[Sources]

	histograms
	counters
	codes *codes
}

type histograms struct{ duration, plan, wait, latency, pacing *prometheus.HistogramVec }

type counters struct{ steps, calls, throttles, lookups, drift, panics, orphaned *prometheus.CounterVec }

// New makes the metrics of a cloud.
func New(provider string, b Build, c clock.PassiveClock) *Metrics {
	m := &Metrics{
		clock: c,
		histograms: histograms{
			duration: reconcileDuration().histogram(provider), plan: planSteps().histogram(provider),
			wait: queueWait().histogram(provider), latency: cloudDuration().histogram(provider), pacing: cloudWait().histogram(provider),
		},
		counters: counters{
			steps: stepsTotal().counter(provider), calls: cloudCalls().counter(provider), throttles: cloudThrottles().counter(provider),
			lookups: knowledgeTotal().counter(provider), drift: driftChecks().counter(provider),
			panics: panicsTotal().counter(provider), orphaned: orphanedGauge().counter(provider),
		},
		codes: &codes{seen: map[string]bool{}}, gauges: newGauges(provider),
	}
	info := buildInfo().gauge(provider)
	info.WithLabelValues(b.Version, b.Commit, b.Go).Set(1)
	m.panics.WithLabelValues()
	m.orphaned.WithLabelValues()
	m.vectors = []prometheus.Collector{m.duration, m.plan, m.wait, m.latency, m.pacing, m.steps, m.calls, m.throttles, m.lookups, m.drift, m.panics, m.orphaned, info}
	return m
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, v := range m.vectors {
		v.Describe(out)
	}
	m.gauges.describe(out)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	for _, v := range m.vectors {
		v.Collect(out)
	}
	m.gauges.collect(out, m.sources.Load())
}

// Run is what is counted of one run over one Service.
type Run struct {
	Kind   string // of load balancer
	Result string // one of Results
	Took   time.Duration
	// Lookup is how the cloud's state was known, a value of
	// berth_snapshot_lookups_total; empty if the run did not come so far.
	Lookup  string
	Planned int  // steps; counted if Lookup says that a comparison was made
	Checked bool // the run was a check for drift
	Drifted bool // and found some
	Steps   []Step
}

// Step is what became of one step.
type Step struct{ Resource, Action, Result string }

// Ran counts a run.
func (m *Metrics) Ran(r Run) {
	if m == nil {
		return
	}
	if r.Kind == "" {
		r.Kind = "none"
	}
	m.duration.WithLabelValues(r.Kind, r.Result).Observe(r.Took.Seconds())
	if r.Lookup != "" {
		m.lookups.WithLabelValues(r.Lookup).Inc()
	}
	if r.Lookup == "hit" || r.Lookup == "miss" {
		m.plan.WithLabelValues(r.Kind).Observe(float64(r.Planned))
	}
	if r.Checked {
		m.drift.WithLabelValues(r.Kind, map[bool]string{true: "found", false: "none"}[r.Drifted]).Inc()
	}
	for _, s := range r.Steps {
		m.steps.WithLabelValues(s.Resource, s.Action, s.Result).Inc()
	}
}

// Panicked counts a run that a defect of the program ended.
func (m *Metrics) Panicked() {
	if m != nil {
		m.panics.WithLabelValues().Inc()
	}
}

// Orphaned counts a Service that was deleted without having been released.
func (m *Metrics) Orphaned() {
	if m != nil {
		m.orphaned.WithLabelValues().Inc()
	}
}

// Waited counts a Service's way off the queue.
func (m *Metrics) Waited(cause string, d time.Duration) {
	if m != nil {
		m.wait.WithLabelValues(cause).Observe(d.Seconds())
	}
}

// Paced counts how long a call to the cloud waited for the rate of its class.
func (m *Metrics) Paced(class string, d time.Duration) {
	if m == nil {
		return
	}
	if class == "" {
		class = "other"
	}
	m.pacing.WithLabelValues(class).Observe(d.Seconds())
}

// Call counts a call to the cloud; it is a providers.Observe.
func (m *Metrics) Call(_ context.Context, c providers.Call) func(providers.Answer) {
	if m == nil {
		return func(providers.Answer) {}
	}
	began := m.clock.Now()
	return func(a providers.Answer) {
		m.latency.WithLabelValues(c.API, c.Operation).Observe(m.clock.Since(began).Seconds())
		code := "OK"
		if !a.OK() {
			code = m.codes.bound(a.Code)
			if a.Meaning == fault.Throttled {
				m.throttles.WithLabelValues(c.API, c.Operation).Inc()
			}
		}
		m.calls.WithLabelValues(c.API, c.Operation, code).Inc()
	}
}

// codes keeps the label code bounded: its values come from the cloud.
type codes struct {
	mu   sync.Mutex
	seen map[string]bool
}

const (
	mostCodes = 200
	// OtherCode stands for the codes that are too many.
	OtherCode = "Other"
)

func (c *codes) bound(code string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.seen[code] {
		if len(c.seen) >= mostCodes {
			return OtherCode
		}
		c.seen[code] = true
	}
	return code
}
