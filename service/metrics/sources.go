package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
)

// Sources are called only when metrics are collected. Every field may
// be nil; the metrics that it is for are then absent.
type Sources struct {
	// Queue is how many Services wait by cause, in the order of Causes, and for
	// how long the first one has.
	Queue func() (depth []int, oldest time.Duration)
	// Services lists the Services that are served.
	Services func() []*corev1.Service
	// Health reports whether the process works on Services, and every check by name.
	Health func() (leads bool, checks map[string]bool)
}

// Watch sets where gauges come from. A field that is nil leaves the one that was
// set before.
func (m *Metrics) Watch(s Sources) {
	if m == nil {
		return
	}
	if old := m.sources.Load(); old != nil {
		if s.Queue == nil {
			s.Queue = old.Queue
		}
		if s.Services == nil {
			s.Services = old.Services
		}
		if s.Health == nil {
			s.Health = old.Health
		}
	}
	m.sources.Store(&s)
}

// gauges are the metrics that Sources are for.
type gauges struct{ services, depth, oldest, leading, check *prometheus.Desc }

func newGauges(provider string) gauges {
	return gauges{
		services: servicesGauge().desc(provider), depth: queueDepth().desc(provider), oldest: queueOldest().desc(provider),
		leading: leadingGauge().desc(provider), check: checkOK().desc(provider),
	}
}

func (g gauges) describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.services, g.depth, g.oldest, g.leading, g.check} {
		out <- d
	}
}

func (g gauges) collect(out chan<- prometheus.Metric, s *Sources) {
	if s == nil {
		return
	}
	tell := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	if s.Queue != nil {
		depth, oldest := s.Queue()
		for i, cause := range Causes() {
			tell(g.depth, float64(depth[i]), cause)
		}
		tell(g.oldest, oldest.Seconds())
	}
	if s.Services != nil {
		for at, n := range countByCondition(s.Services()) {
			tell(g.services, float64(n), at.condition, at.status, at.reason)
		}
	}
	if s.Health != nil {
		leads, checks := s.Health()
		tell(g.leading, boolNumber(leads))
		for _, name := range Checks() {
			if well, known := checks[name]; known {
				tell(g.check, boolNumber(well), name)
			}
		}
	}
}

func boolNumber(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// state is one set of labels of berth_services.
type state struct{ condition, status, reason string }

// countByCondition counts Services by their conditions. Every Service counts once for
// whether it is accepted and once for whether it is programmed.
func countByCondition(services []*corev1.Service) map[state]int {
	out, known := map[state]int{}, ownConditions()
	for _, svc := range services {
		missing := map[string]bool{status.TypeAccepted: true, status.TypeProgrammed: true}
		for _, c := range svc.Status.Conditions {
			if known[trimDomain(c.Type)+c.Reason] {
				delete(missing, c.Type)
				out[state{trimDomain(c.Type), string(c.Status), c.Reason}]++
			}
		}
		for t := range missing {
			out[state{trimDomain(t), string(metav1.ConditionUnknown), ""}]++
		}
	}
	return out
}

// ownConditions returns the conditions with reasons that Berth writes. Others may write
// some too, with unbounded reasons.
func ownConditions() map[string]bool {
	out := map[string]bool{}
	for _, r := range status.Reasons() {
		out[trimDomain(r.Type)+string(r.Reason)] = true
	}
	return out
}

func trimDomain(conditionType string) string { return strings.TrimPrefix(conditionType, status.Prefix) }
