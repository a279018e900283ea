package main

import (
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/golden"
)

const explainedKeys = "    service.beta.kubernetes.io/aws-load-balancer-internal: \"true\"\n" +
	"    service.beta.kubernetes.io/aws-load-balancer-healthcheck-interval: \"10\"\n"

// TestExplain: the origins of a Service of a file, of one field with everything that is known of
// it, and the errors for a part or a Service that does not exist.
func TestExplain(t *testing.T) {
	flags, nodes := startAWS(t, 2)
	file := writeFile(t, "web.yaml", strings.Replace(serviceYAML("web", ""), "  annotations:\n", "  annotations:\n"+explainedKeys, 1))
	args := append([]string{"--nodes", nodes, "-f", file}, flags...)
	explain := func(of ...string) result {
		return runBerth(t, "", append(append([]string{"explain"}, of...), args...)...)
	}

	hide := strings.NewReplacer(file, "web.yaml")
	golden.Check(t, "testdata/forms/explain.golden", hide.Replace(explain("svc/web").out))
	golden.Check(t, "testdata/forms/explain-field.golden", hide.Replace(explain("svc/web", "network-load-balancer.scheme").out))
	if got := explain("svc/web", "-o", "json"); got.code != 0 {
		t.Errorf("as JSON: exit code %d %s", got.code, got.err)
	}
	for selector, want := range map[string]string{
		"load-balancer.Scheme":         "did you mean network-load-balancer.Scheme?",
		"network-load-balancer.Schema": "did you mean network-load-balancer.Scheme?",
		"listener/tcp-81":              "did you mean listener/tcp-80?",
		"bucket":                       "kinds of resources of the Service: listener",
	} {
		if got := explain("svc/web", selector); got.code != plan.ExitError || !strings.Contains(got.err, want) {
			t.Errorf("%s: exit code %d, want %q in %s", selector, got.code, want, got.err)
		}
	}
	if got := explain("svc/other"); got.code != plan.ExitError {
		t.Errorf("a Service that does not exist: exit code %d\n%s", got.code, got.out)
	}
}
