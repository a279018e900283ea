package model

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
)

// TestOfficial verifies that resources created by the official controller are in the desired
// state, for every Service of a cluster, and are all deleted with the Services.
func TestOfficial(t *testing.T) {
	files, err := filepath.Glob("testdata/official/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) { takeOver(t, file) })
	}
}

// official is a cloud that the official controller has left, and its Services.
type official struct {
	world    `json:",inline"`
	Services []*corev1.Service
}

func takeOver(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var o official
	if err := yaml.UnmarshalStrict(text, &o); err != nil {
		t.Fatal(err)
	}
	c := testCase{world: o.world, config: parseConfig(t, o.Config), service: o.Services[0]}
	a, book := c.arm(t)
	var tenants []*tenant
	for _, svc := range o.Services {
		c.world.Slices = slicesOf(svc, o.Slices)
		tn := c.tenant(svc)
		a.asked = append(append(a.asked, lowerCase(pipNameKey.Get(tn.in.Values))), askedAddresses(tn.in)...)
		tenants = append(tenants, tn)
		a.plan(tn.in.Owner, tn, book) // enters what it wants into the ledger
	}
	before := a.state()
	for _, tn := range tenants {
		p := a.plan(tn.in.Owner, tn, book)
		for _, s := range p.Steps {
			if s.ID.Action != plan.Forget {
				t.Errorf("%s: %s", tn.in.Service.Name, planText(p))
				break
			}
		}
		if len(p.Blocked) > 0 || tn.problems.Errors() {
			t.Errorf("%s: held %v, problems %s", tn.in.Service.Name, p.Blocked, cases.Told(tn.problems))
		}
		var want, got []string
		for _, at := range tn.in.Service.Status.LoadBalancer.Ingress {
			want = append(want, at.IP)
		}
		for _, at := range statusOf(tn.in, a.have(tn.in.Owner)).Ingress {
			got = append(got, at.IP)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: addresses (-want +got):\n%s", tn.in.Service.Name, d)
		}
	}
	if after := a.state(); after != before {
		t.Error("planning has changed the cloud")
	}
	for _, tn := range tenants {
		a.settle(tn.in.Owner, nil, book)
	}
	for _, tn := range tenants {
		for _, r := range a.have(tn.in.Owner).Resources {
			if r.Proof != stack.None {
				t.Errorf("%s: left: %s", tn.in.Service.Name, r.Key)
			}
		}
	}
}

// slicesOf are the endpoints of one Service among those of all.
func slicesOf(svc *corev1.Service, all []*discoveryv1.EndpointSlice) []*discoveryv1.EndpointSlice {
	var out []*discoveryv1.EndpointSlice
	for _, s := range all {
		if s.Labels[discoveryv1.LabelServiceName] == svc.Name {
			out = append(out, s)
		}
	}
	return out
}
