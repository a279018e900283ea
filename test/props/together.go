package props

import (
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// Together makes Services, each with the name of its case, at the same time in one
// process, and deletes them again.
func Together(t *testing.T, s Subject, cases []Case) {
	t.Helper()
	for i := range cases {
		svc := cases[i].Service.DeepCopy()
		svc.Name, svc.UID = cases[i].Name, types.UID(cases[i].Name)
		cases[i].Service = svc
	}
	p := startProcess(t, s, s.Nodes())
	for _, release := range []bool{false, true} {
		var wg sync.WaitGroup
		for _, c := range cases {
			wg.Go(func() { p.converge(c.Service, release) })
		}
		wg.Wait()
		if !release {
			for _, c := range cases {
				nothingToDo(t, s, s.Nodes(), c.Service)
			}
		}
	}
}
