package gce

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/test/golden"
)

// TestRealServices runs Services of public repositories through parse, choice
// and build; the golden file has what their owners would be told.
func TestRealServices(t *testing.T) {
	files, err := filepath.Glob("testdata/real/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var out strings.Builder
	for _, file := range files {
		svc := realService(t, file)
		w := loadWorld(t, "testdata/tp-basic/cloud.yaml")
		in, problems := inputOf(parseConfig(t, w.Config), svc, w.Nodes, w.Pods)
		fmt.Fprintf(&out, "== %s: %s\n", filepath.Base(file), in.Kind)
		want, more, err := build(in, &w.Facts, nil)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out.WriteString(problemText(append(problems, more...)))
		if want == nil || problems.Errors() {
			out.WriteString("refused\n")
			continue
		}
		p := diff.Compare(want, nil, Rules(), readyLedger())
		fmt.Fprintf(&out, "%d resources in %d steps, %d held\n%s", len(want.Resources), len(p.Steps), len(p.Held), text(want))
	}
	golden.Check(t, "testdata/real/told.golden", out.String())
}

// realService reads a Service as the API server would keep it: with a UID, with
// node ports, and with annotation values as texts.
func realService(t *testing.T, file string) *corev1.Service {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := yaml.Unmarshal(raw, &object); err != nil {
		t.Fatal(err)
	}
	metadata, _ := object["metadata"].(map[string]any)
	values, _ := metadata["annotations"].(map[string]any)
	for key, value := range values {
		values[key] = fmt.Sprint(value)
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	svc := &corev1.Service{}
	if err := json.Unmarshal(text, svc); err != nil {
		t.Fatal(err)
	}
	complete(svc)
	for i := range svc.Spec.Ports {
		svc.Spec.Ports[i].NodePort = 31000 + int32(i)
	}
	return svc
}

// endpointsOn are n pods, two on every node.
func endpointsOn(n int) []nodeports.PortEndpoints {
	var list []nodeports.Endpoint
	for i := range n {
		list = append(list, nodeports.Endpoint{Addr: addr(fmt.Sprintf("10.9.%d.%d", i/200, i%200+1)), Node: fmt.Sprintf("node-%d", i/2)})
	}
	return []nodeports.PortEndpoints{{Family: corev1.IPv4Protocol, List: list}}
}
