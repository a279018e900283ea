package cases

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/test/golden"
)

// uid of every Service of a test that has none of its own.
const uid = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"

// Built is what a provider made of a Service.
type Built struct {
	Kind     string
	Want     *stack.Stack
	Problems annotations.Problems // of its annotations, and of what Build found
	Text     string               // further text for the output
}

// RealServices runs Services of public repositories, testdata/real, through choice and build.
// The golden file beside them has the messages for their owners. There must be at least so
// many files.
func RealServices[C, F any](t *testing.T, cloud *providers.Cloud[C, F], least int, build func(*corev1.Service) (Built, error)) {
	t.Helper()
	files, err := filepath.Glob("testdata/real/*.yaml")
	if err != nil || len(files) < least {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var out strings.Builder
	for _, file := range files {
		svc := RealService(t, file)
		fmt.Fprintf(&out, "== %s: ", filepath.Base(file))
		if class := svc.Spec.LoadBalancerClass; class != nil && !slices.Contains(cloud.Classes, *class) {
			fmt.Fprintf(&out, "of class %s, which is never served here\n", *class)
			continue
		}
		if c := cloud.Choose(svc); c.Elsewhere != "" {
			fmt.Fprintf(&out, "left alone\n%s\n", c.Elsewhere)
			continue
		}
		built, err := build(svc)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		fmt.Fprintf(&out, "%s\n%s", built.Kind, Told(built.Problems))
		if built.Want == nil || built.Problems.Errors() {
			out.WriteString("refused\n")
			continue
		}
		p := diff.Compare(built.Want, nil, cloud.Rules, ReadyLedger())
		fmt.Fprintf(&out, "%d resources in %d steps, %d held\n%s", len(built.Want.Resources), len(p.Steps), len(p.Blocked), built.Text)
	}
	golden.Check(t, "testdata/real/told.golden", out.String())
}

// RealService reads a Service as the API server would keep it: with a UID, with
// node ports, and with annotation values as texts.
func RealService(t testing.TB, file string) *corev1.Service {
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
	asKept(svc)
	return svc
}

// asKept fills in what the API server does.
func asKept(svc *corev1.Service) {
	svc.UID = uid
	if svc.Namespace == "" {
		svc.Namespace = "default"
	}
	if svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal {
		svc.Spec.HealthCheckNodePort = 32100
	}
	if allocate := svc.Spec.AllocateLoadBalancerNodePorts; allocate != nil && !*allocate {
		return
	}
	for i := range svc.Spec.Ports {
		svc.Spec.Ports[i].NodePort = 31000 + int32(i)
	}
}
