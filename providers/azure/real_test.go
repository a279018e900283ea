package azure

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/test/golden"
)

// TestRealServices runs Services of public repositories through parse, choice
// and build; the golden file has what their owners would be told.
func TestRealServices(t *testing.T) {
	files, err := filepath.Glob("testdata/real/*.yaml")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var out strings.Builder
	for _, file := range files {
		svc := realService(t, file)
		fmt.Fprintf(&out, "== %s: ", filepath.Base(file))
		if class := svc.Spec.LoadBalancerClass; class != nil {
			fmt.Fprintf(&out, "of class %s, which never comes here\n", *class)
			continue
		}
		if c := choose(svc); c.Elsewhere != "" {
			fmt.Fprintf(&out, "left alone\n%s\n", c.Elsewhere)
			continue
		}
		w := loadWorld(t, "testdata/public-basic/cloud.yaml")
		in, problems := inputOf(parseConfig(t, w.Config), w.ClusterName, svc, w.Nodes)
		a := newARM(t, parseConfig(t, w.Config), w.ClusterName, realFacts(w.Facts))
		for name, ip := range map[string]string{"MapReduceGatewayIP": "20.2.2.2", "theirs": "20.10.5.100"} {
			for _, group := range []string{"my-rg", "mc_mapreduce_group_mapreduce_eastus"} {
				a.pips[lower(group+"/"+name)] = a.wire(Object{"name": name, "id": armID("sub", group, "publicIPAddresses", name), "properties": map[string]any{"ipAddress": ip}})
			}
		}
		want, more, err := build(in, a.read(), nil)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		fmt.Fprintf(&out, "%s\n%s", in.Kind, problemText(append(problems, more...)))
		if want == nil || problems.Errors() {
			out.WriteString("refused\n")
			continue
		}
		p := diff.Compare(want, nil, Rules(), readyLedger())
		fmt.Fprintf(&out, "%d resources in %d steps, %d held\n", len(want.Resources), len(p.Steps), len(p.Held))
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
	svc.UID = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
	if svc.Namespace == "" {
		svc.Namespace = "default"
	}
	if svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal {
		svc.Spec.HealthCheckNodePort = 32100
	}
	allocate := svc.Spec.AllocateLoadBalancerNodePorts == nil || *svc.Spec.AllocateLoadBalancerNodePorts
	for i := range svc.Spec.Ports {
		if allocate {
			svc.Spec.Ports[i].NodePort = 31000 + int32(i)
		}
	}
	return svc
}

// realFacts has the subnets that the Services name.
func realFacts(f Facts) Facts {
	f.Subnets = maps.Clone(f.Subnets)
	f.Subnets["backend-subnet"] = FoundSubnet{Name: "backend-subnet", ID: testConfig().subnetID("backend-subnet"), Prefixes: []string{"10.240.0.0/24"}}
	return f
}
