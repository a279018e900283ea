package metrics

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/status"
)

func newMetrics(t *testing.T) (*Metrics, *clocktesting.FakeClock, *prometheus.Registry) {
	t.Helper()
	c := clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	m := New("aws", Build{Version: "v1.2.3", Commit: "abc", Go: "go1.26"}, c)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	return m, c, registry
}

// observeEverything records every sort of observation.
func observeEverything(m *Metrics) {
	for _, result := range Results() {
		m.Ran(Run{Kind: "nlb", Result: result, Took: time.Second, Lookup: "miss", Planned: 2, Checked: true, Drifted: result == ResultDone,
			Steps: []Step{{"listener", "create", "done"}}})
	}
	m.Waited("user", time.Second)
	m.Paced("elbv2/Describe", time.Second)
	m.Call(context.Background(), providers.Call{API: "ec2", Operation: "DescribeSubnets"})(providers.Answer{Code: "RequestLimitExceeded", Meaning: fault.Throttled})
	m.Watch(Sources{
		Queue:    func() ([]int, time.Duration) { return []int{1, 0, 0, 0, 2}, 3 * time.Second },
		Services: func() []*corev1.Service { return []*corev1.Service{{}} },
	})
	m.Watch(Sources{Health: func() (bool, map[string]bool) { return true, map[string]bool{"cloud": true, "workers": false} }})
}

// TestDeclared: what is exposed is what is declared, in name, type, help, labels
// and the values of closed sets, and follows the conventions of Prometheus.
func TestDeclared(t *testing.T) {
	m, _, registry := newMetrics(t)
	observeEverything(m)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[string]string{}, map[string]string{}
	for _, f := range families {
		got[f.GetName()] = strings.ToLower(f.GetType().String()) + ": " + f.GetHelp()
		d, ok := findDefinition(f.GetName())
		if !ok {
			continue
		}
		for _, metric := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range metric.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if diff := wrongLabels(d, labels); diff != "" {
				t.Errorf("%s: %s", f.GetName(), diff)
			}
		}
	}
	for _, d := range Definitions() {
		want[d.Name] = string(d.Kind) + ": " + d.Help
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-declared +exposed):\n%s", d)
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("conventions: %v %v", problems, err)
	}
}

func findDefinition(name string) (Definition, bool) {
	all := Definitions()
	i := slices.IndexFunc(all, func(d Definition) bool { return d.Name == name })
	if i < 0 {
		return Definition{}, false
	}
	return all[i], true
}

func wrongLabels(d Definition, labels map[string]string) string {
	if labels[labelProvider] != "aws" || len(labels) != len(d.Labels)+1 {
		return fmt.Sprintf("labels are %v", labels)
	}
	for _, l := range d.Labels {
		value, ok := labels[l.Name]
		if !ok || l.Values != nil && !slices.Contains(l.Values, value) {
			return fmt.Sprintf("label %s is %q, legal: %v", l.Name, value, l.Values)
		}
	}
	return ""
}

// TestBounded: no label can hold a name of something that a user makes.
func TestBounded(t *testing.T) {
	bounded := []string{"kind", "resource", "api", "operation", "class", "code", "version", "commit", "go_version"} // by the cloud, the provider or the build
	name := regexp.MustCompile(`^berth_[a-z_]+$`)
	for _, d := range Definitions() {
		if !name.MatchString(d.Name) {
			t.Errorf("%s: not a name of ours", d.Name)
		}
		for _, l := range d.Labels {
			if l.Doc == "" {
				t.Errorf("%s: label %s has no text", d.Name, l.Name)
			}
			if l.Values == nil && !slices.Contains(bounded, l.Name) {
				t.Errorf("%s: label %s is not bounded", d.Name, l.Name)
			}
		}
	}
}

// TestCodes: codes that the cloud makes up do not fill the memory.
func TestCodes(t *testing.T) {
	m, _, registry := newMetrics(t)
	for i := range 3 * mostCodes {
		m.Call(t.Context(), providers.Call{API: "ec2", Operation: "X"})(providers.Answer{Code: fmt.Sprintf("Code%d", i)})
	}
	if n, err := testutil.GatherAndCount(registry, cloudCalls().Name); err != nil || n != mostCodes+1 {
		t.Errorf("want %d series, got %d (%v)", mostCodes+1, n, err)
	}
}

// TestCall: an answered call, a throttled one, and how long they took.
func TestCall(t *testing.T) {
	m, c, registry := newMetrics(t)
	call := providers.Call{API: "ec2", Operation: "DescribeSubnets"}
	for _, a := range []providers.Answer{{}, {}, {Code: "RequestLimitExceeded", Meaning: fault.Throttled}, {Code: providers.NoAnswer, Meaning: fault.Unavailable}} {
		end := m.Call(t.Context(), call)
		c.Step(2 * time.Second)
		end(a)
	}
	want := `
# HELP berth_cloud_calls_total ` + cloudCalls().Help + `
# TYPE berth_cloud_calls_total counter
berth_cloud_calls_total{api="ec2",code="NoAnswer",operation="DescribeSubnets",provider="aws"} 1
berth_cloud_calls_total{api="ec2",code="OK",operation="DescribeSubnets",provider="aws"} 2
berth_cloud_calls_total{api="ec2",code="RequestLimitExceeded",operation="DescribeSubnets",provider="aws"} 1
# HELP berth_cloud_throttles_total ` + cloudThrottles().Help + `
# TYPE berth_cloud_throttles_total counter
berth_cloud_throttles_total{api="ec2",operation="DescribeSubnets",provider="aws"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), cloudCalls().Name, cloudThrottles().Name); err != nil {
		t.Error(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == cloudDuration().Name {
			if h := f.GetMetric()[0].GetHistogram(); h.GetSampleCount() != 4 || h.GetSampleSum() != 8 {
				t.Errorf("want 4 calls of 2 s, got %v", h)
			}
		}
	}
}

func serviceWith(conditions ...metav1.Condition) *corev1.Service {
	return &corev1.Service{Status: corev1.ServiceStatus{Conditions: conditions}}
}

// TestServices counts by condition; a Service that was not reconciled yet
// counts too, and what other controllers write does not.
func TestServices(t *testing.T) {
	accepted := metav1.Condition{Type: status.TypeAccepted, Status: metav1.ConditionTrue, Reason: string(status.ReasonAccepted)}
	programmed := metav1.Condition{Type: status.TypeProgrammed, Status: metav1.ConditionTrue, Reason: string(status.ReasonProgrammed)}
	denied := metav1.Condition{Type: status.TypeProgrammed, Status: metav1.ConditionFalse, Reason: string(status.ReasonDenied)}
	foreign := metav1.Condition{Type: "example.com/Painted", Status: metav1.ConditionTrue, Reason: "Blue"}
	m, _, registry := newMetrics(t)
	m.Watch(Sources{Services: func() []*corev1.Service {
		return []*corev1.Service{serviceWith(accepted, programmed, foreign), serviceWith(accepted, denied), serviceWith(accepted, programmed), serviceWith()}
	}})
	want := `
# HELP berth_services ` + servicesGauge().Help + `
# TYPE berth_services gauge
berth_services{condition="Accepted",provider="aws",reason="",status="Unknown"} 1
berth_services{condition="Accepted",provider="aws",reason="Accepted",status="True"} 3
berth_services{condition="Programmed",provider="aws",reason="",status="Unknown"} 1
berth_services{condition="Programmed",provider="aws",reason="Denied",status="False"} 1
berth_services{condition="Programmed",provider="aws",reason="Programmed",status="True"} 2
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), servicesGauge().Name); err != nil {
		t.Error(err)
	}
}

// TestWithoutMetrics: every method of a nil Metrics is a no-op.
func TestWithoutMetrics(t *testing.T) {
	var m *Metrics
	observeEverything(m)
}
