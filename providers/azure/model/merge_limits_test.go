package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// crowdedBatch returns a batch in which Services arrive at an internal load balancer,
// each with as many rules as ports are given.
func crowdedBatch(c Config, services, first int, ports int32) plan.Batch {
	var b plan.Batch
	for n := range services {
		owner := stack.Owner{Name: fmt.Sprint(first + n), UID: fmt.Sprintf("%08x-0000-4000-8000-000000000000", first+n+1)}
		base := BaseName(owner.UID)
		e := Entries{Group: "rg", Balancer: "kubernetes-internal", Pools: []string{"kubernetes"}, Frontends: []Frontend{{Name: base, Version: ipv4, Subnet: c.SubnetID("nodes")}}}
		for port := int32(1); port <= ports; port++ {
			e.Rules = append(e.Rules, Rule{Name: fmt.Sprintf("%s-TCP-%d", base, port), Frontend: base, Pool: "kubernetes", Protocol: "Tcp", FrontendPort: port, BackendPort: port})
		}
		b.Steps = append(b.Steps, plan.Step{ID: plan.StepID{Owner: owner, Key: EntriesKey(e.Balancer), Action: plan.Create}, Target: stack.Resource{Key: EntriesKey(e.Balancer), Spec: e}})
	}
	return b
}

// TestLimitsOfBalancer verifies that steps within the limits are written, and that only a
// Service that exceeds them is refused, without a call.
func TestLimitsOfBalancer(t *testing.T) {
	for _, c := range []struct {
		what     string
		pools    string
		services int
		ports    int32
		fit      int
	}{
		{"rules", PoolNodeIP, 200, 10, 150},
		{"frontends", PoolNodeIP, 605, 1, 600},
		{"network interface", poolNIC, 40, 10, 29},
	} {
		t.Run(c.what, func(t *testing.T) {
			conf := testConfig()
			conf.PoolType = c.pools
			in := LBMerge{Config: conf, Cluster: "kubernetes", Name: "kubernetes-internal"}
			b := crowdedBatch(conf, c.services, 0, c.ports)
			edit := MergeBalancer(in, nil, b)
			if n := c.services - len(edit.Refused); n != c.fit || len(edit.Object.Props().List(ListFrontends)) != c.fit {
				t.Errorf("%d Services fit, with %d frontends, want %d", n, len(edit.Object.Props().List(ListFrontends)), c.fit)
			}
			for i, err := range edit.Refused {
				if i < c.fit || fault.Of(err) != fault.Quota || !strings.Contains(err.Error(), c.what) {
					t.Errorf("Service %d: %v", i, err)
				}
			}
			again := MergeBalancer(in, edit.Object, plan.Batch{Steps: b.Steps[:c.fit]})
			if len(again.Refused) > 0 || again.Changed {
				t.Errorf("who is there already: changed %v, refused %v", again.Changed, again.Refused)
			}
		})
	}
}

// TestZonesStay verifies that an internal frontend with a new name, as after a change of
// subnet, keeps the zones of the frontend that it replaces.
func TestZonesStay(t *testing.T) {
	conf := testConfig()
	in := LBMerge{Config: conf, Cluster: "kubernetes", Name: "kubernetes-internal"}
	b := crowdedBatch(conf, 1, 0, 1)
	edit := MergeBalancer(in, nil, b)
	edit.Object.Props().List(ListFrontends)[0].SetTexts("zones", []string{"2"})
	step := b.Steps[0]
	had, _ := step.Target.Spec.(Entries)
	want := had
	want.Frontends = []Frontend{{Name: had.Frontends[0].Name + "-backend", Version: ipv4, Subnet: conf.SubnetID("backend"), Zones: []string{"1", "2", "3"}}}
	want.Rules = []Rule{had.Rules[0]}
	want.Rules[0].Frontend = want.Frontends[0].Name
	step.ID.Action, step.Found, step.Target.Spec = plan.Update, had, want
	edit = MergeBalancer(in, edit.Object, plan.Batch{Steps: []plan.Step{step}})
	frontends := edit.Object.Props().List(ListFrontends)
	if len(frontends) != 1 || !cmp.Equal(frontends[0].Texts("zones"), []string{"2"}) {
		t.Errorf("frontends %v, want one in zone 2", frontends)
	}
}

// TestSharedProbeGoes verifies that a shared probe is deleted with the last rule that uses
// it, also when that rule remains and uses another probe.
func TestSharedProbeGoes(t *testing.T) {
	conf := testConfig()
	in := LBMerge{Config: conf, Cluster: "kubernetes", Name: "kubernetes-internal"}
	b := crowdedBatch(conf, 1, 0, 1)
	spec, _ := b.Steps[0].Target.Spec.(Entries)
	spec.Probes, spec.Rules[0].Probe = []Probe{{Name: sharedProbe, Protocol: "Http", Port: 10256, Path: "/healthz", Interval: 5, Threshold: 2}}, sharedProbe
	b.Steps[0].Target.Spec = spec
	found := MergeBalancer(in, nil, b).Object
	if len(found.Props().List(ListProbes)) != 1 {
		t.Fatal("the test is wrong: there is no shared probe")
	}
	own := spec
	own.Rules = []Rule{spec.Rules[0]}
	own.Probes, own.Rules[0].Probe = []Probe{{Name: own.Rules[0].Name, Protocol: "Tcp", Port: 30001, Interval: 5, Threshold: 2}}, own.Rules[0].Name
	b.Steps[0].ID.Action, b.Steps[0].Found, b.Steps[0].Target.Spec = plan.Update, spec, own
	if probes := MergeBalancer(in, found, b).Object.Props().List(ListProbes); len(probes) != 1 || probes[0].Text("name") == sharedProbe {
		t.Errorf("probes %v, want the Service's own alone", probes)
	}
}

// TestServiceTags: what cannot be a service tag does not get near the security group
// that all Services share.
func TestServiceTags(t *testing.T) {
	for value, legal := range map[string]bool{
		"AzureCloud": true, "AzureFrontDoor.Backend, Storage.WestUS2": true, "Internet": true,
		"10.0.0.0/8": false, "*": false, "no such tag": false, "AzureCloud.": false, "<script>": false,
	} {
		_, problems := Annotations().Parse(Public, annotations.Source{Annotations: map[string]string{serviceTagsKey.Name: value}})
		if problems.Errors() == legal {
			t.Errorf("%q: %v", value, problems.Strings())
		}
	}
}

// TestProbePaths: what no request can have as its path does not get near the load balancer
// that all Services share.
func TestProbePaths(t *testing.T) {
	for value, legal := range map[string]bool{
		"/ready": true, "/a/b?c=d": true, "ready": true, "": true, "/ready now": false, "/a\nb": false, "/\x00": false, "/\xff": false,
	} {
		for _, key := range []string{probePathKey.Name, "service.beta.kubernetes.io/port_80_health-probe_request-path"} {
			source := annotations.Source{Annotations: map[string]string{key: value}, Ports: []corev1.ServicePort{{Port: 80}}}
			if _, problems := Annotations().Parse(Public, source); problems.Errors() == legal {
				t.Errorf("%s %q: %v", key, value, problems.Strings())
			}
		}
	}
}
