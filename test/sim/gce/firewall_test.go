package gce_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/compute/v1"

	simgce "github.com/berth-lb/berth/test/sim/gce"
)

func TestFirewalls(t *testing.T) {
	w := startWorld(t, simgce.Options{})
	tcp := func(ports ...string) []*compute.FirewallAllowed {
		return []*compute.FirewallAllowed{{IPProtocol: "TCP", Ports: ports}}
	}
	insert := func(f compute.Firewall) string {
		if f.Name == "" {
			f.Name = "fw"
		}
		return w.done(w.api.Firewalls.Insert(project, &f).Do())
	}
	var many []string
	for n := range 101 {
		many = append(many, fmt.Sprint(n+1))
	}
	for name, c := range map[string]struct {
		f    compute.Firewall
		want string
	}{
		"nothing":         {compute.Firewall{}, "400 invalid"},
		"both":            {compute.Firewall{Allowed: tcp(), Denied: []*compute.FirewallDenied{{IPProtocol: "all"}}}, "400 invalid"},
		"protocol":        {compute.Firewall{Allowed: []*compute.FirewallAllowed{{IPProtocol: "quic"}}}, "400 invalid"},
		"ports of icmp":   {compute.Firewall{Allowed: []*compute.FirewallAllowed{{IPProtocol: "icmp", Ports: []string{"1"}}}}, "400 invalid"},
		"bad port":        {compute.Firewall{Allowed: tcp("70000")}, "400 invalid"},
		"many ports":      {compute.Firewall{Allowed: tcp(many...)}, "400 invalid"},
		"host bits":       {compute.Firewall{Allowed: tcp("80"), SourceRanges: []string{"10.0.0.1/8"}}, "400 invalid"},
		"mixed families":  {compute.Firewall{Allowed: tcp("80"), SourceRanges: []string{"10.0.0.0/8", "::/0"}}, "400 invalid"},
		"tag":             {compute.Firewall{Allowed: tcp("80"), TargetTags: []string{"Node"}}, "400 invalid"},
		"unknown network": {compute.Firewall{Allowed: tcp("80"), Network: "global/networks/ghost"}, "404 notFound"},
		"priority":        {compute.Firewall{Allowed: tcp("80"), Priority: 70000}, "400 invalid"},
		"name taken":      {compute.Firewall{Name: "default-allow-ssh", Allowed: tcp("80")}, "409 alreadyExists"},
	} {
		if got := insert(c.f); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := insert(compute.Firewall{Allowed: tcp("80", "443-445"), TargetTags: []string{"node"}, DestinationRanges: []string{"198.18.0.1"}}); got != "" {
		t.Fatal(got)
	}
	got, err := w.api.Firewalls.Get(project, "fw").Do()
	if err != nil {
		t.Fatal(err)
	}
	want := &compute.Firewall{
		Name: "fw", Network: w.cloud.Seed.Network, Direction: "INGRESS", Priority: 1000, SourceRanges: []string{"0.0.0.0/0"}, DestinationRanges: []string{"198.18.0.1"},
		Allowed: []*compute.FirewallAllowed{{IPProtocol: "tcp", Ports: []string{"80", "443-445"}}}, TargetTags: []string{"node"}, Kind: "compute#firewall",
		LogConfig: &compute.FirewallLogConfig{}, Id: got.Id, SelfLink: base + "global/firewalls/fw", CreationTimestamp: got.CreationTimestamp, ServerResponse: got.ServerResponse,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	patch := &compute.Firewall{SourceRanges: []string{"2001:db8::/32"}}
	changes := []string{
		w.done(w.api.Firewalls.Patch(project, "fw", patch).Do()), // The destination is an IPv4 range.
		w.done(w.api.Firewalls.Patch(project, "fw", &compute.Firewall{SourceRanges: []string{"10.0.0.0/8"}, Priority: 999}).Do()),
		w.done(w.api.Firewalls.Patch(project, "fw", &compute.Firewall{Direction: "EGRESS"}).Do()),
		w.done(w.api.Firewalls.Delete(project, "fw").Do()),
	}
	if diff := cmp.Diff([]string{"400 invalid", "", "400 invalid", ""}, changes); diff != "" {
		t.Errorf("changes (-want +got)\n%s", diff)
	}
}

func TestQuota(t *testing.T) {
	opt := simgce.Options{}
	opt.Compute.Quotas = map[string]float64{"FORWARDING_RULES": 1, "HEALTH_CHECKS": 0}
	w := startWorld(t, opt)
	pool := w.pool("pool")
	got := []string{
		w.rule(&compute.ForwardingRule{Name: "one", Target: pool, PortRange: "80"}),
		w.rule(&compute.ForwardingRule{Name: "two", Target: pool, PortRange: "80"}),
		w.done(w.api.HealthChecks.Insert(project, &compute.HealthCheck{Name: "hc", Type: "TCP"}).Do()),
	}
	if diff := cmp.Diff([]string{"", "403 quotaExceeded", "403 quotaExceeded"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	r, err := w.api.Regions.Get(project, region).Do()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range r.Quotas {
		if q.Metric == "FORWARDING_RULES" && (q.Limit != 1 || q.Usage != 1) {
			t.Errorf("quota %+v, want 1 of 1", q)
		}
	}
	opt.Compute.LateFailures = true
	w = startWorld(t, opt)
	if got := w.done(w.api.HealthChecks.Insert(project, &compute.HealthCheck{Name: "hc", Type: "TCP"}).Do()); got != "403 QUOTA_EXCEEDED" {
		t.Errorf("late failure %q, want the operation to fail", got)
	}
	if _, err := w.api.HealthChecks.Get(project, "hc").Do(); errorCode(err) != "404 notFound" {
		t.Errorf("after a failed operation: %v, want nothing there", err)
	}
}
