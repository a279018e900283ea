package docs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/service/logkey"
	"github.com/berth-lb/berth/service/metrics"
	"github.com/berth-lb/berth/test/golden"
)

func TestMetricsPage(t *testing.T) {
	golden.Check(t, root+"/docs/reference/metrics.md", metrics.Page())
}

func TestLogsPage(t *testing.T) {
	golden.Check(t, root+"/docs/reference/logs.md", logkey.Page())
}

// TestGuideNamesRealMetrics: the metrics that the guide names exist.
func TestGuideNamesRealMetrics(t *testing.T) {
	guide, err := os.ReadFile(root + "/docs/guides/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	var real []string
	for _, d := range metrics.Definitions() {
		real = append(real, d.Name)
	}
	named := regexp.MustCompile(`berth_[a-z_]+`).FindAllString(string(guide), -1)
	if len(named) == 0 {
		t.Fatal("the guide names no metric")
	}
	for _, name := range named {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count"), "_sum")
		if !slices.Contains(real, base) {
			t.Errorf("%s is no metric", name)
		}
	}
	for _, check := range metrics.Checks() {
		if !strings.Contains(string(guide), "`"+check+"`") {
			t.Errorf("the check %s is not in the guide", check)
		}
	}
}
