package gce_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/compute/v1"

	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
)

func TestFilters(t *testing.T) {
	w := startWorld(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 5}})
	w.must(w.api.Addresses.Insert(project, region, &compute.Address{Name: "one", Description: "a: b (c)"}).Do())
	w.must(w.api.Addresses.Insert(project, region, &compute.Address{Name: "two", NetworkTier: "STANDARD"}).Do())
	two := w.getAddress("two").Address
	for filter, want := range map[string]string{
		"":                                       "one two",
		"name eq one":                            "one",
		"name eq (one|two)":                      "one two",
		"name eq o":                              "",
		"name eq o.*":                            "one",
		"name ne one":                            "two",
		"address eq " + two:                      "two",
		"region eq .*/regions/" + region:         "one two",
		"(name eq .*) (networkTier eq STANDARD)": "two",
		`name eq "(one|t.*)"`:                    "one two",
		`description eq "a: b \(c\)"`:            "one",
		"(name ne one) (name ne two)":            "",
	} {
		list, err := w.api.Addresses.List(project, region).Filter(filter).Do()
		if err != nil {
			t.Errorf("%s: %v", filter, err)
			continue
		}
		got := ""
		for i, a := range list.Items {
			if i > 0 {
				got += " "
			}
			got += a.Name
		}
		if got != want {
			t.Errorf("%s: %q, want %q", filter, got, want)
		}
	}
	for _, filter := range []string{"name", "name eq", "name eq (", "(name eq x", "name eq x)", `name ~ "x"`, `name = "x"`} {
		if _, err := w.api.Addresses.List(project, region).Filter(filter).Do(); errorCode(err) != "400 invalid" {
			t.Errorf("%s: %v, want it refused", filter, err)
		}
	}
}

func TestPages(t *testing.T) {
	w := startWorld(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 600}})
	var pages []int
	names := map[string]bool{}
	if err := w.api.Instances.AggregatedList(project).MaxResults(250).Pages(t.Context(), func(l *compute.InstanceAggregatedList) error {
		n := 0
		for scope, items := range l.Items {
			for _, i := range items.Instances {
				names[scope+"/"+i.Name] = true
				n++
			}
			if len(items.Instances) == 0 && items.Warning.Code != "NO_RESULTS_ON_PAGE" {
				t.Errorf("%s: warning %+v", scope, items.Warning)
			}
		}
		pages = append(pages, n)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{250, 250, 100}, pages); diff != "" || len(names) != 600 {
		t.Errorf("%d instances; pages (-want +got)\n%s", len(names), diff)
	}
	for _, call := range []*compute.ZonesListCall{
		w.api.Zones.List(project).MaxResults(501), w.api.Zones.List(project).PageToken("nonsense"), w.api.Zones.List(project).OrderBy("status"),
	} {
		if _, err := call.Do(); errorCode(err) != "400 invalid" {
			t.Errorf("%v, want it refused", err)
		}
	}
	one, err := w.api.Zones.List(project).MaxResults(1).Do()
	if err != nil || len(one.Items) != 1 || one.Items[0].Name != zoneA {
		t.Fatalf("%+v, %v", one, err)
	}
	two, err := w.api.Zones.List(project).MaxResults(1).PageToken(one.NextPageToken).Do()
	if err != nil || two.Items[0].Name != zoneB || two.NextPageToken == "" {
		t.Errorf("%+v, %v", two, err)
	}
}

func TestUnreachableScopes(t *testing.T) {
	w := startWorld(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 4}})
	if _, err := w.cloud.Faults.Add(sim.Fault{Kind: sim.FaultError, Operation: "*.aggregatedList", Code: "UNREACHABLE", Message: "zones/" + zoneB}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.api.Instances.AggregatedList(project).Do(); errorCode(err) != "503 backendError" {
		t.Errorf("%v, want a failure", err)
	}
	list, err := w.api.Instances.AggregatedList(project).ReturnPartialSuccess(true).Do()
	if err != nil {
		t.Fatal(err)
	}
	got := []string{list.Items["zones/"+zoneB].Warning.Code, fmt.Sprint(list.Unreachables), fmt.Sprint(len(list.Items["zones/"+zoneA].Instances))}
	if diff := cmp.Diff([]string{"UNREACHABLE", "[" + base + "zones/" + zoneB + "]", "1"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestProjectNumber: configurations may have the number of a project, from which
// the official controllers find out its id.
func TestProjectNumber(t *testing.T) {
	w := startWorld(t, simgce.Options{})
	const number = "123456789012"
	p, err := w.api.Projects.Get(number).Do()
	if err != nil || p.Name != project || fmt.Sprint(p.Id) != number {
		t.Errorf("project %s: %+v, %v", number, p, err)
	}
	w.must(w.api.Addresses.Insert(number, region, &compute.Address{Name: "one"}).Do())
	if got, want := w.getAddress("one").SelfLink, base+"regions/"+region+"/addresses/one"; got != want {
		t.Errorf("link %s, want %s", got, want)
	}
	if _, err := w.api.Projects.Get("210987654321").Do(); errorCode(err) != "404 notFound" {
		t.Errorf("the number of no project: %v", err)
	}
}
