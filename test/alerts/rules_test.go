package alerts

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

// every is how often rules are evaluated and series have samples.
const every = time.Minute

// firingAlerts runs the alerts over series in the notation of promtool, one sample a
// minute, and lists the alerts of a name that fire at a time, by their labels except
// the name and the severity.
func firingAlerts(t *testing.T, alert, series string, at time.Duration) []string {
	t.Helper()
	suite, err := promqltest.NewLazyLoader("load 1m\n"+series, promqltest.LazyLoaderOpts{EnableAtModifier: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := suite.Close(); err != nil {
			t.Error(err)
		}
	}()
	suite.SubqueryInterval = every
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc: rules.EngineQueryFunc(suite.QueryEngine(), suite.Storage()), Appendable: suite.Storage(), Context: t.Context(),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {}, Logger: slog.New(slog.DiscardHandler), Parser: newParser(),
	})
	groups, errs := manager.LoadGroups(every, labels.EmptyLabels(), "", nil, false, rulesFile)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var out []string
	for now := time.Duration(0); now <= at; now += every {
		ts := time.Unix(0, 0).UTC().Add(now)
		suite.WithSamplesTill(ts, func(err error) {
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range groups {
				g.Eval(suite.Context(), ts)
				if now == at {
					out = append(out, activeAlerts(t, g, alert)...)
				}
			}
		})
	}
	return out
}

func activeAlerts(t *testing.T, g *rules.Group, alert string) []string {
	t.Helper()
	var out []string
	for _, r := range g.Rules() {
		if err := r.LastError(); err != nil {
			t.Errorf("%s: %v", r.Name(), err)
		}
		rule, ok := r.(*rules.AlertingRule)
		if !ok || rule.Name() != alert {
			continue
		}
		for _, a := range rule.ActiveAlerts() {
			if a.State != rules.StateFiring {
				continue
			}
			if text := a.Annotations.Get("summary") + a.Annotations.Get("description"); strings.Contains(text, "<no value>") || strings.Contains(text, "error expanding") {
				t.Errorf("%s: %s", alert, text)
			}
			var words []string
			for _, name := range []string{"provider", "api", "check", "kind", "reason"} {
				if v := a.Labels.Get(name); v != "" {
					words = append(words, name+"="+v)
				}
			}
			out = append(out, strings.Join(words, " "))
		}
	}
	return out
}

// example is a course of things, and whether an alert fires in it.
type example struct {
	says   string
	series string
	at     time.Duration
	want   []string
}

const (
	calls     = `berth_cloud_calls_total{provider="aws",api="ec2",operation="DescribeSubnets",code="%s"} 0+%dx120` + "\n"
	throttles = `berth_cloud_throttles_total{provider="aws",api="ec2",operation="DescribeSubnets"} 0+%dx120` + "\n"
	runs      = `berth_reconcile_duration_seconds_count{provider="aws",kind="nlb",result="%s"} 0+%dx120` + "\n"
	services  = `berth_services{provider="aws",condition="%s",status="%s",reason="%s"} %s` + "\n"
	leading   = `berth_leading{provider="aws",pod="%s"} %s` + "\n"
	well      = `berth_check_ok{provider="aws",check="%s",pod="a"} %s` + "\n"
	build     = `berth_build_info{provider="aws",pod="%s",version="%s"} 1x120` + "\n"
	oldest    = `berth_queue_oldest_age_seconds{provider="aws"} %s` + "\n"
	drift     = `berth_drift_checks_total{provider="aws",kind="nlb",result="%s"} %s` + "\n"
	buckets   = `berth_cloud_call_duration_seconds_bucket{provider="gce",api="compute",operation="%[1]s",le="1"} 0+%[2]dx120
berth_cloud_call_duration_seconds_bucket{provider="gce",api="compute",operation="%[1]s",le="30"} 0+%[3]dx120
berth_cloud_call_duration_seconds_bucket{provider="gce",api="compute",operation="%[1]s",le="+Inf"} 0+%[3]dx120
`
)

func alertExamples() map[string][]example {
	f := fmt.Sprintf
	aws := []string{"provider=aws"}
	return map[string][]example{
		"BerthAbsent": {
			{"no replica runs", f(oldest, "0x120"), 11 * time.Minute, []string{""}},
			{"not for long", f(oldest, "0x120"), 9 * time.Minute, nil},
			{"a replica runs", f(build, "a", "v1"), time.Hour, nil},
		},
		"BerthNoLeader": {
			{"two stand by", f(leading, "a", "0x120") + f(leading, "b", "0x120"), 6 * time.Minute, aws},
			{"one leads", f(leading, "a", "0x120") + f(leading, "b", "1x120"), time.Hour, nil},
			{"the lead changes", f(leading, "a", "1x10 0x110") + f(leading, "b", "0x12 1x108"), time.Hour, nil},
		},
		"BerthNotReady": {
			{"the cloud does not let us in", f(well, "cloud", "0x120") + f(well, "ledger", "1x120"), 16 * time.Minute, []string{"provider=aws check=cloud"}},
			{"a slow start", f(well, "ledger", "0x10 1x110"), 30 * time.Minute, nil},
			{"stuck workers are another alert", f(well, "workers", "0x120"), 30 * time.Minute, nil},
		},
		"BerthStuck": {
			{"workers are stuck", f(well, "workers", "0x120"), 6 * time.Minute, aws},
			{"they got on", f(well, "workers", "0x3 1x117"), 6 * time.Minute, nil},
		},
		"BerthQueueOld": {
			{"one waits ever longer", f(oldest, "0+60x120"), 17 * time.Minute, aws},
			{"many wait, none for long", f(oldest, "290x120"), time.Hour, nil},
		},
		"BerthServicesNotProgrammed": {
			{"denied", f(services, "Programmed", "False", "Denied", "2x120"), 31 * time.Minute, []string{"provider=aws reason=Denied"}},
			{"never handled", f(services, "Programmed", "Unknown", "", "1x120"), 31 * time.Minute, aws},
			{"all are", f(services, "Programmed", "True", "Programmed", "9x120"), time.Hour, nil},
			{"by the user's or the operator's wish", f(services, "Programmed", "False", "NotAccepted", "1x120") + f(services, "Programmed", "False", "HeldByPolicy", "1x120") + f(services, "Programmed", "False", "Deleting", "1x120"), time.Hour, nil},
			{"for a while", f(services, "Programmed", "False", "Pending", "1x25 0x95"), time.Hour, nil},
		},
		"BerthServicesNotAccepted": {
			{"a bad annotation", f(services, "Accepted", "False", "InvalidAnnotation", "1x120"), 61 * time.Minute, []string{"provider=aws reason=InvalidAnnotation"}},
			{"mended", f(services, "Accepted", "False", "InvalidAnnotation", "1x40 0x80"), 61 * time.Minute, nil},
		},
		"BerthReconcileFailing": {
			{"one of three", f(runs, "failed", 1) + f(runs, "done", 2), time.Hour, aws},
			{"one of eleven", f(runs, "failed", 1) + f(runs, "done", 10), time.Hour, nil},
			{"nothing happens", f(runs, "failed", 0) + f(runs, "done", 0), time.Hour, nil},
		},
		"BerthCloudThrottles": {
			{"one of four", f(throttles, 1) + f(calls, "OK", 3) + f(calls, "RequestLimitExceeded", 1), time.Hour, []string{"provider=aws api=ec2"}},
			{"one of twenty", f(throttles, 1) + f(calls, "OK", 19) + f(calls, "RequestLimitExceeded", 1), time.Hour, nil},
		},
		"BerthCloudFails": {
			{"no answers", f(calls, "NoAnswer", 3) + f(calls, "OK", 1), 25 * time.Minute, []string{"provider=aws api=ec2"}},
			{"server errors", f(calls, "503", 3) + f(calls, "OK", 1), 25 * time.Minute, []string{"provider=aws api=ec2"}},
			{"refusals are no failures", f(calls, "RequestLimitExceeded", 3) + f(calls, "OK", 1), time.Hour, nil},
		},
		"BerthCloudSlow": {
			{"most take long", f(buckets, "firewalls.get", 1, 10), time.Hour, []string{"provider=gce api=compute"}},
			{"few do", f(buckets, "firewalls.get", 99, 100), time.Hour, nil},
			{"waiting is no slowness", f(buckets, "globalOperations.wait", 0, 10), time.Hour, nil},
		},
		"BerthDrift": {
			{"every few minutes", f(drift, "found", "0+1x120"), 30 * time.Minute, []string{"provider=aws kind=nlb"}},
			{"now and then", f(drift, "found", "0x10 3x110"), time.Hour, nil},
			{"looked at often", f(drift, "none", "0+9x120"), time.Hour, nil},
		},
		"BerthVersionsDiffer": {
			{"for long", f(build, "a", "v1") + f(build, "b", "v2"), 61 * time.Minute, aws},
			{"an upgrade", f(build, "a", "v1") + f(build, "b", "v2"), 59 * time.Minute, nil},
			{"two of one", f(build, "a", "v1") + f(build, "b", "v1"), 2 * time.Hour, nil},
		},
	}
}

// TestAlerts: every alert has a course of things in which it fires, and one in
// which it does not.
func TestAlerts(t *testing.T) {
	all := alertExamples()
	for _, r := range readAlerts(t) {
		fires, rests := 0, 0
		for _, e := range all[r.Alert] {
			t.Run(r.Alert+"/"+e.says, func(t *testing.T) {
				if d := cmp.Diff(e.want, firingAlerts(t, r.Alert, e.series, e.at)); d != "" {
					t.Errorf("fires for (-want +got):\n%s", d)
				}
			})
			if len(e.want) > 0 {
				fires++
			} else {
				rests++
			}
		}
		if fires == 0 || rests == 0 {
			t.Errorf("%s: %d examples in which it fires, %d in which it does not", r.Alert, fires, rests)
		}
		delete(all, r.Alert)
	}
	for name := range all {
		t.Errorf("%s: there is no such alert", name)
	}
}
