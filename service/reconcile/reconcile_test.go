package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
)

// newShop returns a Service; ports are port:nodePort.
func newShop(name string, ports map[int32]int32, annotations ...string) *corev1.Service {
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Annotations: map[string]string{}},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}},
	}
	for port, nodePort := range ports {
		svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: fmt.Sprint(port), Protocol: corev1.ProtocolTCP, Port: port, NodePort: nodePort})
	}
	slices.SortFunc(svc.Spec.Ports, func(a, b corev1.ServicePort) int { return int(a.Port - b.Port) })
	for _, a := range annotations {
		k, v, _ := strings.Cut(a, "=")
		svc.Annotations["toy.example/"+k] = v
	}
	return svc
}

func newNode(name string) nodeports.Node {
	return nodeports.Node{Name: name, ProviderID: "toy://" + name, Ready: corev1.ConditionTrue}
}

func twoNodes() []nodeports.Node { return []nodeports.Node{newNode("n1"), newNode("n2")} }

// process is one life of the program on a world.
type process struct {
	*reconcile.Reconciler
	w     *world
	clock *testclock.FakeClock
}

func startProcess(w *world, clock *testclock.FakeClock, policies ...plan.StepFilter) *process {
	return startIn(toyCloud(), w, clock, policies...)
}

// startIn starts on a cloud that differs from the toy in some way.
func startIn(cloud providers.Cloud[string, struct{}], w *world, clock *testclock.FakeClock, policies ...plan.StepFilter) *process {
	bound := providers.Bind(cloud, "", "cluster", w)
	p := &process{Reconciler: reconcile.New(bound, reconcile.Options{Policies: policies, Now: clock.Now, GatherReleases: time.Millisecond, DriftInterval: 30 * time.Minute}), w: w, clock: clock}
	p.SetNodes(twoNodes())
	return p
}

func startKnown(w *world, policies ...plan.StepFilter) *process {
	p := startProcess(w, testclock.NewFakeClock(time.Unix(1e9, 0)), policies...)
	p.AllKnown()
	return p
}

// once is one way of a Service through the program.
func (p *process) once(job reconcile.Job) (reconcile.Result, error) {
	d, err := p.Draft(context.Background(), job)
	if err != nil {
		return reconcile.Result{Draft: d}, err
	}
	return p.Run(context.Background(), d, nil), nil
}

// settle repeats until nothing is left to do, as the loop does.
func (p *process) settle(t *testing.T, job reconcile.Job) reconcile.Result {
	t.Helper()
	var last reconcile.Result
	for range 10 {
		res, err := p.once(job)
		if err != nil {
			t.Error(err)
			return res
		}
		if last = res; res.Clean && !job.Release || res.Released {
			return res
		}
		if res.Waits {
			p.clock.Step(res.Wait)
		}
	}
	t.Errorf("never settles: err %v, waits %v, plan %v", last.Err, last.Waits, last.Draft.Plan)
	return last
}

func jobFor(svc *corev1.Service) reconcile.Job     { return reconcile.Job{Service: svc} }
func releaseJob(svc *corev1.Service) reconcile.Job { return reconcile.Job{Service: svc, Release: true} }

func checkEqual(t *testing.T, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// cost is what something takes of the cloud.
type cost struct{ Deep, Narrow, Writes int }

func (p *process) cost(f func()) cost {
	before := cost{p.w.deep, p.w.narrow, p.w.calls}
	f()
	return cost{p.w.deep - before.Deep, p.w.narrow - before.Narrow, p.w.calls - before.Writes}
}

var one = map[int32]int32{80: 30080}

func TestCreate(t *testing.T) {
	p := startKnown(newWorld())
	res := p.settle(t, jobFor(newShop("a", map[int32]int32{80: 30080, 443: 30443})))
	checkEqual(t, []string{
		"a lb public", "a listener 443 to 30443", "a listener 80 to 30080",
		"a pool 30080 [n1 n2]", "a pool 30443 [n1 n2]",
		"rule health", "rule node port 30080", "rule node port 30443",
	}, p.w.show(t))
	checkEqual(t, 1, len(res.Status.Ingress))
}

func TestReads(t *testing.T) {
	svc := newShop("a", one)
	p := startKnown(newWorld())
	checkEqual(t, cost{Deep: 1, Writes: 6}, p.cost(func() { p.settle(t, jobFor(svc)) }))

	t.Log("unchanged: nothing at all")
	facts := p.w.facts
	checkEqual(t, cost{}, p.cost(func() { p.settle(t, jobFor(svc)) }))
	checkEqual(t, facts, p.w.facts)

	t.Log("changed: writes, from what is known")
	p.SetNodes([]nodeports.Node{newNode("n1"), newNode("n2"), newNode("n3")})
	checkEqual(t, cost{Writes: 1}, p.cost(func() { p.settle(t, jobFor(svc)) }))

	t.Log("old: one read, and a foreign change is corrected")
	p.w.of("a", kindPool) // the pool stays, its members go
	for _, th := range p.w.things {
		if _, ok := th.spec.(members); ok {
			th.spec = members{}
		}
	}
	p.clock.Step(p.NextRead(reconcile.OwnerOf(svc)))
	checkEqual(t, cost{Deep: 1, Writes: 1}, p.cost(func() {
		res := p.settle(t, reconcile.Job{Service: svc, Applied: lastDigest(t, p, svc)})
		checkEqual(t, true, res.Clean)
	}))
	if next := p.NextRead(reconcile.OwnerOf(svc)); next < 20*time.Minute {
		t.Errorf("next read in %v", next)
	}

	t.Log("distrusted: one read")
	p.Distrust(reconcile.OwnerOf(svc))
	checkEqual(t, cost{Deep: 1}, p.cost(func() { p.settle(t, reconcile.Job{Service: svc, Applied: lastDigest(t, p, svc)}) }))
}

// lastDigest is what a run of another process would have recorded.
func lastDigest(t *testing.T, p *process, svc *corev1.Service) string {
	t.Helper()
	other := startKnown(p.w)
	other.SetNodes([]nodeports.Node{newNode("n1"), newNode("n2"), newNode("n3")})
	deep := p.w.deep
	d, err := other.Draft(context.Background(), jobFor(svc))
	if err != nil {
		t.Fatal(err)
	}
	p.w.deep = deep
	return d.Asked
}

// TestMachinesThatComeBack: where machines are members by their names, a machine that was
// recreated under its name may have been removed, and is added again at once.
func TestMachinesThatComeBack(t *testing.T) {
	for name, named := range map[string]bool{"by name": true, "by identifier": false} {
		t.Run(name, func(t *testing.T) {
			svc, w := newShop("a", one), newWorld()
			cloud := toyCloud()
			cloud.NamedMembers = named
			p := startIn(cloud, w, testclock.NewFakeClock(time.Unix(1e9, 0)))
			boot := func(id string) []nodeports.Node {
				n := newNode("n1")
				n.BootID = id
				return []nodeports.Node{n, newNode("n2")}
			}
			p.SetNodes(boot("1"))
			p.AllKnown()
			p.settle(t, jobFor(svc))
			before := w.show(t)
			for _, th := range w.things { // the cloud takes the old machine out
				if _, ok := th.spec.(members); ok {
					th.spec = members{Nodes: []string{"n2"}}
				}
			}
			p.SetNodes(boot("2"))
			expected := cost{}
			if named {
				expected = cost{Deep: 1, Writes: 1}
			}
			checkEqual(t, expected, p.cost(func() { p.settle(t, jobFor(svc)) }))
			if named {
				checkEqual(t, before, w.show(t))
			}
		})
	}
}

func TestStart(t *testing.T) {
	svc := newShop("a", one)
	w := newWorld()
	digest := startKnown(w).settle(t, jobFor(svc)).Draft.Asked
	applied := reconcile.Job{Service: svc, Applied: digest}

	t.Run("clean before: only looked at, and later read", func(t *testing.T) {
		p := startKnown(w)
		checkEqual(t, cost{Narrow: 1}, p.cost(func() { p.settle(t, applied) }))
		checkEqual(t, cost{}, p.cost(func() { p.settle(t, applied) }))
		p.clock.Step(p.NextRead(reconcile.OwnerOf(svc)))
		checkEqual(t, cost{Deep: 1}, p.cost(func() { p.settle(t, applied) }))
	})
	t.Run("changed meanwhile: read", func(t *testing.T) {
		p := startKnown(w)
		checkEqual(t, cost{Deep: 1}, p.cost(func() { p.settle(t, reconcile.Job{Service: svc, Applied: "another"}) }))
	})
	t.Run("a copied manifest carries a digest of another Service", func(t *testing.T) {
		p := startKnown(w)
		p.settle(t, applied)
		copied := newShop("b", map[int32]int32{80: 31080})
		p.settle(t, reconcile.Job{Service: copied, Applied: digest})
		checkEqual(t, true, slices.Contains(p.w.show(t), "b lb public"))
		p.settle(t, releaseJob(copied))
	})
	t.Run("gone meanwhile: made again", func(t *testing.T) {
		before := w.show(t)
		clear(w.things)
		p := startKnown(w)
		p.settle(t, applied)
		checkEqual(t, before, w.show(t))
	})
}

// TestStartAfterChange: what changed since the last clean run decides how much is read.
func TestStartAfterChange(t *testing.T) {
	svc := newShop("a", one)
	w := newWorld()
	digest := startKnown(w).settle(t, jobFor(svc)).Draft.Asked
	applied := reconcile.Job{Service: svc, Applied: digest}

	t.Run("nodes changed after a look: written from what is known", func(t *testing.T) {
		p := startKnown(w)
		p.settle(t, applied)
		p.SetNodes([]nodeports.Node{newNode("n1")})
		checkEqual(t, cost{Writes: 1}, p.cost(func() { p.settle(t, applied) }))
		p.SetNodes([]nodeports.Node{newNode("n1"), newNode("n2")})
		checkEqual(t, cost{Writes: 1}, p.cost(func() { p.settle(t, applied) }))
	})
	t.Run("nodes changed meanwhile: members are read, and nothing else", func(t *testing.T) {
		before := w.show(t)
		p := startKnown(w)
		p.SetNodes([]nodeports.Node{newNode("n1")})
		checkEqual(t, cost{Narrow: 1, Writes: 1}, p.cost(func() {
			if res := p.settle(t, applied); !res.PresenceOnly || len(res.Status.Ingress) != 1 {
				t.Errorf("only checked %v, status %v", res.PresenceOnly, res.Status)
			}
		}))
		checkEqual(t, true, slices.Contains(w.show(t), "a pool 30080 [n1]"))
		checkEqual(t, cost{Narrow: 1, Writes: 1}, startKnown(w).cost(func() { startKnown(w).settle(t, applied) }))
		checkEqual(t, before, w.show(t))
	})
	t.Run("the Service changed after a look: read", func(t *testing.T) {
		p := startKnown(w)
		p.settle(t, applied)
		more := newShop("a", map[int32]int32{80: 30080, 81: 30081})
		checkEqual(t, cost{Deep: 1, Writes: 4}, p.cost(func() { p.settle(t, reconcile.Job{Service: more, Applied: digest}) }))
		p.settle(t, jobFor(svc))
	})
	t.Run("parts changed that a look does not show: read", func(t *testing.T) {
		p := startKnown(w)
		p.settle(t, applied)
		p.settle(t, reconcile.Job{Service: newShop("a", map[int32]int32{80: 30081}), Applied: digest})
		checkEqual(t, true, slices.Contains(w.show(t), "a listener 80 to 30081"))
		p.settle(t, jobFor(svc))
	})
	t.Run("members that are wanted no longer: read", func(t *testing.T) {
		w.things["pool-x"] = &thing{id: "pool-x", uid: "a", port: "8080", spec: pool{NodePort: 1}}
		w.things["pool-x/members"] = &thing{id: "pool-x/members", uid: "a", in: "pool-x", spec: members{}}
		p := startKnown(w)
		checkEqual(t, cost{Deep: 1, Narrow: 1, Writes: 1}, p.cost(func() { p.settle(t, applied) }))
	})
	t.Run("the pool of the members went: read", func(t *testing.T) {
		before := w.show(t)
		for id := range w.things {
			if strings.HasPrefix(id, "pool") || strings.HasPrefix(id, "listener") {
				delete(w.things, id)
			}
		}
		p := startKnown(w)
		checkEqual(t, cost{Deep: 1, Narrow: 1, Writes: 3}, p.cost(func() { p.settle(t, applied) }))
		checkEqual(t, before, w.show(t))
	})
}

// TestReleaseAfterALook: a release reads the parts of which only a presence check is known, and
// makes no call in vain.
func TestReleaseAfterALook(t *testing.T) {
	svc, w := newShop("a", one), newWorld()
	digest := startKnown(w).settle(t, jobFor(svc)).Draft.Asked
	p := startKnown(w)
	p.settle(t, reconcile.Job{Service: svc, Applied: digest})
	checkEqual(t, cost{Deep: 2, Writes: 4}, p.cost(func() { p.settle(t, releaseJob(svc)) }))
	checkEqual(t, []string{}, w.show(t))
}
