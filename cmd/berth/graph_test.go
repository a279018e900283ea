package main

import (
	"strings"
	"testing"

	"github.com/berth-lb/berth/test/golden"
)

// TestGraph: the topology of a Service that exists, with a port that does not exist yet; and of two
// Services that share a load balancer.
func TestGraph(t *testing.T) {
	flags, nodes := startAWS(t, 2)
	makeReal(t, nodes, flags[3], writeFile(t, "web.yaml", serviceYAML("web", "")))
	file := writeFile(t, "web.yaml", serviceYAML("web", "")+"    name: http\n  - port: 443\n    name: https\n")
	args := append([]string{"graph", "svc/web", "--nodes", nodes, "-f", file}, flags...)
	for _, form := range []string{"dot", "mermaid"} {
		golden.Check(t, "testdata/forms/graph-"+form+".golden", runBerth(t, "", append(args, "-o", form)...).out)
	}
	if got := runBerth(t, "", append(args, "-o", "json")...); got.code != 0 || !strings.Contains(got.out, `"from": "port 80/TCP"`) {
		t.Errorf("exit code %d %s\n%s", got.code, got.err, got.out)
	}
}
