package props

import (
	"slices"
	"testing"

	"github.com/berth-lb/berth/nodeports"
)

// testRestarted: nodes go and come while no process runs. The next one, which finds its
// record on the Service and reads only what follows nodes, leaves nothing to do for
// one that reads all.
func testRestarted(t *testing.T, fresh New, c Case) {
	s := fresh(t)
	p := startProcess(t, s, s.Nodes(), c.Service)
	p.converge(c.Service, false)
	res, err := p.once(t.Context(), c.Service, false)
	if err != nil {
		t.Fatal(err)
	}
	record, clean := res.Record()
	if !clean {
		t.Fatalf("%s: nothing is recorded", c.Service.Name)
	}
	for i := range s.Nodes() {
		if i > 0 && i < len(s.Nodes())-1 {
			continue // as the first and the last
		}
		for _, nodes := range [][]nodeports.Node{slices.Delete(slices.Clone(s.Nodes()), i, i+1), s.Nodes()} {
			p := startProcess(t, s, nodes)
			job := p.job(c.Service)
			job.Applied = record
			for range rounds {
				if res, err = Work(t.Context(), p.r, job); err != nil || res.Err != nil {
					t.Fatal(err, res.Err)
				}
				if res.Clean {
					break
				}
			}
			nothingToDo(t, s, nodes, c.Service)
		}
	}
}
