package props

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
)

// NodeChoice gives a live Service a choice of nodes that is malformed or matches no node. The
// traffic stays as it is, for the process that has served the Service and for a new one.
func NodeChoice(t *testing.T, fresh New, c Case, key string, values ...string) {
	for _, value := range values {
		runVirtual(t, c.Name+" "+key+" "+value, func(t *testing.T) {
			s := fresh(t)
			served := startProcess(t, s, s.Nodes(), c.Service)
			served.converge(c.Service, false)
			want := flowsNow(t, s, c)
			if len(want) == 0 {
				t.Fatal("nothing is served")
			}
			chosen := c.Service.DeepCopy()
			if chosen.Annotations == nil {
				chosen.Annotations = map[string]string{}
			}
			chosen.Annotations[key] = value
			for name, p := range map[string]*process{"the process that has served it": served, "a new process": startProcess(t, s, s.Nodes(), chosen)} {
				for range 2 {
					if _, err := p.once(t.Context(), chosen, false); err != nil {
						t.Fatal(name, err)
					}
				}
				if d := cmp.Diff(want, flowsNow(t, s, c)); d != "" {
					t.Errorf("%s (-before +after):\n%s", name, d)
				}
			}
		})
	}
}

// flowsNow returns the flows of what a new process reads.
func flowsNow(t *testing.T, s Subject, c Case) []string {
	t.Helper()
	bound := s.Open(t)
	p := &process{t: t, s: s, r: Process(t, bound, s.Nodes())}
	d, err := p.r.Draft(t.Context(), p.job(c.Service))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range bound.Flows([]*stack.Stack{d.Have}) {
		if f.Serves() {
			line := f.Name()
			for _, b := range f.To {
				line += " " + b.String()
			}
			out = append(out, line)
		}
	}
	return out
}
