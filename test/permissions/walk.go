package permissions

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/golden"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Walk is a cloud and what one Service asks for in it, one case after the other.
type Walk struct {
	Fresh props.New
	Cases []props.Case
	// Then is what others do once a case is served; nil for nothing. It is judged by
	// no role, and what it calls is not counted.
	Then func(t *testing.T, subject props.Subject, c props.Case)
}

// Check holds the file of a cloud in docs/permissions against what the walks
// call. With -update the file is written.
func Check(t *testing.T, cloud Cloud, walks ...Walk) {
	t.Helper()
	seen := map[string]bool{}
	for _, w := range walks {
		virtual.Test(t, func(t *testing.T) { w.walk(t, seen, nil) })
	}
	needs, wrong := cloud.needs(slices.Sorted(maps.Keys(seen)))
	if len(wrong) > 0 {
		t.Fatalf("the table and the journals differ: %s", strings.Join(wrong, "; "))
	}
	body, err := cloud.file(needs)
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "../../docs/permissions/"+cloud.File, string(body))
	for _, w := range walks {
		virtual.Test(t, func(t *testing.T) { w.walk(t, map[string]bool{}, body) })
	}
}

// Grants fails for each operation, such as slb.CreateLoadBalancer, that the written role does not permit. Root is the
// folder of the repository.
func (c Cloud) Grants(t *testing.T, root string, operations ...string) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(root, "docs", "permissions", c.File))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range operations {
		service, operation, _ := strings.Cut(o, ".")
		if need, known := c.verb(service, service, operation); !known || !strings.Contains(string(body), strconv.Quote(need)) {
			t.Errorf("%s can be called, and the role does not permit it", o)
		}
	}
}

// rounds is how often a Service is looked at until it is as wanted.
const rounds = 12

// walk serves the cases one after the other with the same Service, so that existing resources
// are updated, then deletes it, beside a neighbour with which it shares all resources that
// can be shared. Before every case the process restarts and reads everything; after it a node
// is deleted or created again. With a role, the cloud authorizes requests by it.
func (w Walk) walk(t *testing.T, seen map[string]bool, role []byte) {
	t.Helper()
	subject := w.Fresh(t)
	judged, ok := subject.(props.Roled)
	if !ok {
		t.Fatalf("%T: its cloud judges by no role", subject)
	}
	judged.SetRole(t, role)
	nodes := subject.Nodes()
	begin := func() *reconcile.Reconciler {
		r := reconcile.New(subject.Open(t), reconcile.Options{GatherReleases: time.Millisecond})
		r.SetNodes(nodes)
		r.AllKnown()
		return r
	}
	neighbour := w.Cases[0].Service.DeepCopy()
	neighbour.UID, neighbour.Name = neighbour.UID[:len(neighbour.UID)-2]+"99", "neighbour"
	// It is younger than every process, so that its deletion ends with a look at what it had.
	neighbour.CreationTimestamp = metav1.NewTime(time.Now().Add(time.Hour))
	for i := range neighbour.Spec.Ports {
		neighbour.Spec.Ports[i].NodePort++
	}
	if neighbour.Spec.HealthCheckNodePort != 0 {
		neighbour.Spec.HealthCheckNodePort++
	}
	converge := func(t *testing.T, r *reconcile.Reconciler, job reconcile.Job) {
		t.Helper()
		if p, ok := subject.(props.Podded); ok {
			job.Slices = p.Slices(job.Service)
		}
		if o, ok := subject.(props.Referring); ok {
			job.Objects = o.Objects()
		}
		convergeService(t, r, job)
	}
	converge(t, begin(), reconcile.Job{Service: neighbour, NeverProvisioned: true})
	for i, c := range w.Cases {
		svc := c.Service.DeepCopy()
		svc.UID, svc.Name, svc.Namespace = w.Cases[0].Service.UID, w.Cases[0].Service.Name, w.Cases[0].Service.Namespace
		r := begin()
		if _, err := r.Draft(t.Context(), reconcile.Job{Service: neighbour}); err != nil {
			t.Fatal(err)
		}
		converge(t, r, reconcile.Job{Service: svc, NeverProvisioned: i == 0})
		r.SetNodes(nodes[1:])
		converge(t, r, reconcile.Job{Service: svc})
		r.SetNodes(nodes)
		converge(t, r, reconcile.Job{Service: svc})
		w.others(t, subject, c, seen)
		judged.SetRole(t, role)
	}
	converge(t, begin(), reconcile.Job{Service: w.Cases[0].Service, Release: true})
	converge(t, begin(), reconcile.Job{Service: neighbour, Release: true})
	countOperations(subject, seen)
}

// others lets others do what they do after a case.
func (w Walk) others(t *testing.T, subject props.Subject, c props.Case, seen map[string]bool) {
	t.Helper()
	if w.Then == nil {
		return
	}
	countOperations(subject, seen)
	if judged, ok := subject.(props.Roled); ok {
		judged.SetRole(t, nil)
	}
	w.Then(t, subject, c)
	subject.Control().Journal.Reset()
}

// countOperations records which operations were called.
func countOperations(subject props.Subject, seen map[string]bool) {
	for _, e := range subject.Control().Journal.Entries() {
		if e.Committed || !e.Write {
			seen[e.Service+"."+e.Operation] = true
		}
	}
}

func convergeService(t *testing.T, r *reconcile.Reconciler, job reconcile.Job) {
	t.Helper()
	var last reconcile.Result
	for range rounds {
		draft, err := r.Draft(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		last = r.Run(t.Context(), draft, func(plan.Gate) time.Duration { return 0 })
		if last.Released || !job.Release && last.Clean {
			return
		}
	}
	t.Fatalf("%s is not complete after %d rounds: %v, %s", job.Service.Name, rounds, last.Err, strings.Join(last.Draft.Problems.Strings(), "; "))
}
