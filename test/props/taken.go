package props

import (
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/sim"
)

// Documents reads the objects of a YAML file: what another controller has served.
func Documents[T any](t testing.TB, file string) []*T {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []*T
	for doc := range strings.SplitSeq(string(body), "\n---\n") {
		var object T
		if err := yaml.UnmarshalStrict([]byte(doc), &object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, &object)
	}
	return out
}

// TakeOver serves Services that another controller has served until now, and returns the
// writing calls of a process without any records. Afterwards no Service needs a step. Then
// they are released, and it returns the remaining state of the cloud.
func TakeOver(t testing.TB, s Subject, services []*corev1.Service) (writes []sim.Entry, left string) {
	t.Helper()
	s.Control().Journal.Reset()
	p := startProcess(t, s, s.Nodes(), services...)
	for _, svc := range services {
		p.converge(svc, false)
	}
	for _, e := range s.Control().Journal.Entries() {
		if e.Write {
			writes = append(writes, e)
		}
	}
	again := startProcess(t, s, s.Nodes())
	for _, svc := range services {
		// A setting that other Services request too, and whose author is unknown, was no claim that ends.
		d, err := again.r.Draft(t.Context(), again.job(svc))
		if err != nil || slices.ContainsFunc(d.Plan.Steps, func(s plan.Step) bool { return s.ID.Action == plan.Forget }) {
			t.Errorf("%s: a new process finds claims that end: %v %v", svc.Name, stepIDs(d.Plan), err)
		}
	}
	again.r.AllKnown()
	for _, svc := range services {
		d, err := again.r.Draft(t.Context(), again.job(svc))
		if err != nil || len(d.Plan.Steps) > 0 {
			t.Errorf("%s: a new process finds something to do: %v %v", svc.Name, stepIDs(d.Plan), err)
		}
	}
	for _, svc := range services {
		p.converge(svc, true)
	}
	return writes, cloudState(t, s)
}
