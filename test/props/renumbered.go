package props

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Renumbered changes the port numbers of a Service while the cloud permanently refuses one
// type of write: as many listeners, rules and members exist then as before, of the old ports
// or of the new ones, also after a restart. Once no write is refused, the desired state is
// reached. Excepted are operations whose result has the name of a deleted resource.
func Renumbered(t *testing.T, fresh New, c Case, except ...string) {
	change := c.Service.DeepCopy()
	for i := range change.Spec.Ports {
		change.Spec.Ports[i].Port += 1000
	}
	for _, operation := range writesOf(t, fresh, c, change) {
		if slices.Contains(except, operation) {
			continue
		}
		runVirtual(t, c.Name+" "+operation, func(t *testing.T) {
			s := fresh(t)
			served := startProcess(t, s, s.Nodes(), c.Service)
			served.converge(c.Service, false)
			before := countSizes(observedStack(t, s, c.Service))
			allow := refuseOperation(t, s, operation)
			for _, who := range []string{"the process that has served it", "a new process"} {
				p := served
				if who == "a new process" {
					p = startProcess(t, s, s.Nodes(), change)
				}
				for range 3 {
					if _, err := p.once(t.Context(), change, false); err != nil {
						t.Fatal(who, err)
					}
				}
				after := countSizes(observedStack(t, s, change))
				for _, what := range slices.Sorted(maps.Keys(before)) {
					if after[what] < before[what] {
						t.Errorf("%s: %s: there were %d and are %d", who, what, before[what], after[what])
					}
				}
			}
			allow()
			p := startProcess(t, s, s.Nodes(), change)
			p.converge(change, false)
			nothingToDo(t, s, s.Nodes(), change)
		})
	}
}

// refuseOperation makes the cloud refuse an operation until it is allowed again. A
// refusal that no call has met proves nothing, and fails the test.
func refuseOperation(t *testing.T, s Subject, operation string) (allow func()) {
	t.Helper()
	control := s.Control()
	control.Journal.Reset()
	id, err := control.Faults.Add(sim.Fault{Kind: sim.FaultError, Operation: operation, WritesOnly: true, Status: http.StatusBadRequest})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		control.Faults.Remove(id)
		if !slices.ContainsFunc(control.Journal.Entries(), func(e sim.Entry) bool { return len(e.Faults) > 0 }) {
			t.Errorf("%s was never refused", operation)
		}
	}
}

// writesOf names the writing calls that a change of a Service takes.
func writesOf(t *testing.T, fresh New, c Case, change *corev1.Service) []string {
	var out []string
	virtual.Run(t, c.Name+" undisturbed", func(t *testing.T) {
		s := fresh(t)
		p := startProcess(t, s, s.Nodes(), c.Service)
		p.converge(c.Service, false)
		s.Control().Journal.Reset()
		p.converge(change, false)
		for _, e := range s.Control().Journal.Entries() {
			if e.Write && !slices.Contains(out, e.Operation) {
				out = append(out, e.Operation)
			}
		}
	})
	slices.Sort(out)
	return out
}

// countSizes returns the number of resources of each kind, and of members of each list
// in them.
func countSizes(all *stack.Stack) map[string]int {
	out := map[string]int{}
	for _, r := range all.Resources {
		out[string(r.Key.Kind)]++
		spec := reflect.ValueOf(r.Spec)
		for i := range spec.NumField() {
			if spec.Field(i).Kind() == reflect.Slice {
				out[fmt.Sprintf("%s %s", r.Key.Kind, spec.Type().Field(i).Name)] += spec.Field(i).Len()
			}
		}
	}
	return out
}
