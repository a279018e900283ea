package metrics

import "github.com/prometheus/client_golang/prometheus"

// Kind is the type of a metric, as Prometheus calls it.
type Kind string

// Kinds of metrics.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Label is one label of a metric.
type Label struct {
	Name string
	Doc  string
	// Values is the closed set of its values; nil for one that the cloud's API or
	// the provider's model bounds, as Doc says.
	Values []string
}

// Definition declares a metric. Every metric has the label provider besides.
type Definition struct {
	Name    string
	Kind    Kind
	Help    string
	Labels  []Label
	Buckets []float64 // of a histogram
}

func (d Definition) names() []string {
	var out []string
	for _, l := range d.Labels {
		out = append(out, l.Name)
	}
	return out
}

func (d Definition) counter(provider string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help, ConstLabels: providerLabels(provider)}, d.names())
}

func (d Definition) gauge(provider string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: d.Name, Help: d.Help, ConstLabels: providerLabels(provider)}, d.names())
}

func (d Definition) histogram(provider string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.Name, Help: d.Help, ConstLabels: providerLabels(provider), Buckets: d.Buckets}, d.names())
}

// desc is for a metric whose values are computed at each scrape.
func (d Definition) desc(provider string) *prometheus.Desc {
	return prometheus.NewDesc(d.Name, d.Help, d.names(), providerLabels(provider))
}

func providerLabels(provider string) prometheus.Labels {
	return prometheus.Labels{labelProvider: provider}
}

const labelProvider = "provider"

// Definitions lists every metric in the order of the documentation.
func Definitions() []Definition {
	return []Definition{
		reconcileDuration(), planSteps(), stepsTotal(), servicesGauge(),
		cloudCalls(), cloudDuration(), cloudWait(), cloudThrottles(),
		queueDepth(), queueOldest(), queueWait(),
		knowledgeTotal(), driftChecks(), panicsTotal(), orphanedGauge(),
		leadingGauge(), checkOK(), buildInfo(),
	}
}
