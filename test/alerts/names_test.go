package alerts

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/berth-lb/berth/service/metrics"
)

const (
	rulesFile     = "../../charts/berth/files/alerts.yaml"
	dashboardFile = "../../charts/berth/files/dashboard.json"
)

func newParser() parser.Parser { return parser.NewParser(parser.Options{}) }

// readAlerts reads the rules as strictly as Prometheus does.
func readAlerts(t *testing.T) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(rulesFile, false, model.UTF8Validation, newParser(), slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var out []rulefmt.Rule
	for _, g := range groups.Groups {
		out = append(out, g.Rules...)
	}
	return out
}

// dashboardQueries returns all queries of the dashboard, by panel.
func dashboardQueries(t *testing.T) map[string]string {
	t.Helper()
	body, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr  string `json:"expr"`
				RefID string `json:"refId"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(body, &board); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$__rate_interval", "5m", "$provider", "aws")
	out := map[string]string{}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			out[p.Title+" "+target.RefID] = variables.Replace(target.Expr)
		}
	}
	return out
}

// TestExpressionsAreReal: every expression parses, and every metric, label and
// value of a closed set in it is one that Berth has. Every metric is on the
// dashboard.
func TestExpressionsAreReal(t *testing.T) {
	all := dashboardQueries(t)
	seen := map[string]bool{}
	for where, text := range all {
		for _, name := range checkQuery(t, "dashboard: "+where, text) {
			seen[name] = true
		}
	}
	for _, r := range readAlerts(t) {
		checkQuery(t, "alert: "+r.Alert, r.Expr)
	}
	for _, d := range metrics.Definitions() {
		if !seen[d.Name] {
			t.Errorf("%s: not on the dashboard", d.Name)
		}
	}
}

// checkQuery validates one expression and returns the metrics in it.
func checkQuery(t *testing.T, where, text string) []string {
	t.Helper()
	expr, err := newParser().ParseExpr(text)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return nil
	}
	var names []string
	var legal []string // labels of all metrics in it
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			d, found := findDefinition(s.Name)
			if !found {
				t.Errorf("%s: %s is no metric of Berth", where, s.Name)
				return nil
			}
			names = append(names, d.Name)
			legal = append(legal, labelsOf(d, s.Name)...)
			for _, m := range s.LabelMatchers {
				if problem := checkMatcher(d, s.Name, m); problem != "" {
					t.Errorf("%s: %s", where, problem)
				}
			}
		}
		return nil
	})
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if a, ok := n.(*parser.AggregateExpr); ok {
			for _, l := range a.Grouping {
				if !slices.Contains(legal, l) {
					t.Errorf("%s: groups by %s, which nothing in it has", where, l)
				}
			}
		}
		return nil
	})
	return names
}

// findDefinition finds the declaration of a series; series of histograms have suffixes.
func findDefinition(series string) (metrics.Definition, bool) {
	for _, d := range metrics.Definitions() {
		names := []string{d.Name}
		if d.Kind == metrics.Histogram {
			names = []string{d.Name + "_bucket", d.Name + "_sum", d.Name + "_count"}
		}
		if slices.Contains(names, series) {
			return d, true
		}
	}
	return metrics.Definition{}, false
}

func labelsOf(d metrics.Definition, series string) []string {
	out := []string{"provider"}
	if strings.HasSuffix(series, "_bucket") {
		out = append(out, "le")
	}
	for _, l := range d.Labels {
		out = append(out, l.Name)
	}
	return out
}

// checkMatcher returns the mistake in a matcher; "" if there is none.
func checkMatcher(d metrics.Definition, series string, m *labels.Matcher) string {
	if m.Name == labels.MetricName {
		return ""
	}
	if !slices.Contains(labelsOf(d, series), m.Name) {
		return fmt.Sprintf("%s has no label %s", series, m.Name)
	}
	at := slices.IndexFunc(d.Labels, func(l metrics.Label) bool { return l.Name == m.Name })
	if at < 0 || d.Labels[at].Values == nil {
		return ""
	}
	// Every alternative must be a value, or a typing error stays unnoticed.
	for _, word := range strings.Split(m.Value, "|") {
		if !slices.Contains(d.Labels[at].Values, word) {
			return fmt.Sprintf("%s: the label %s is never %q", series, m.Name, word)
		}
	}
	return ""
}

// TestBadExpressionsAreFound: the checks above can fail.
func TestBadExpressionsAreFound(t *testing.T) {
	d, _ := findDefinition("berth_steps_total")
	for _, m := range []*labels.Matcher{
		labels.MustNewMatcher(labels.MatchEqual, "service", "x"), labels.MustNewMatcher(labels.MatchEqual, "result", "faild"),
		labels.MustNewMatcher(labels.MatchRegexp, "action", "create|remove"),
	} {
		if checkMatcher(d, "berth_steps_total", m) == "" {
			t.Errorf("%s: nothing was found", m)
		}
	}
	if _, found := findDefinition("berth_steps"); found {
		t.Error("berth_steps is no metric")
	}
}

// TestAlertsAreExplained: every alert says what it is, how bad, and where to read on.
func TestAlertsAreExplained(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guides/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range readAlerts(t) {
		if !slices.Contains([]string{"critical", "warning", "info"}, r.Labels["severity"]) {
			t.Errorf("%s: severity %q", r.Alert, r.Labels["severity"])
		}
		for _, key := range []string{"summary", "description", "runbook_url"} {
			if r.Annotations[key] == "" {
				t.Errorf("%s: no %s", r.Alert, key)
			}
		}
		if !strings.HasSuffix(r.Annotations["runbook_url"], "docs/guides/observability.md#"+strings.ToLower(r.Alert)) {
			t.Errorf("%s: runbook %s", r.Alert, r.Annotations["runbook_url"])
		}
		if !strings.Contains(string(guide), "\n### "+r.Alert+"\n") {
			t.Errorf("%s: not in the guide", r.Alert)
		}
	}
}
