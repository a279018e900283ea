package aws_test

import (
	"net/netip"
	"slices"
	"testing"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/berth-lb/berth/providers/aws/model"
	berth "github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

const multiKey = "service.beta.kubernetes.io/aws-load-balancer-multi-cluster-target-group"

// another is another cluster whose pods are behind the target group of the Service.
func (o *rollout) another() *rollout {
	b := *o
	b.subject.notes = berth.NewNotes(fake.NewClientset())
	b.restart()
	return &b
}

// restart begins with a process that knows nothing but its notes.
func (o *rollout) restart() {
	o.Helper()
	o.r = props.Process(o, o.subject.Open(o), o.subject.Nodes())
}

// all are the numbers of all registered pods, whichever cluster has registered them.
func (o *rollout) all() []int {
	o.Helper()
	whole := *o
	whole.svc = o.svc.DeepCopy()
	delete(whole.svc.Annotations, multiKey)
	var out []int
	for _, text := range whole.registered() {
		b := netip.MustParseAddr(text).As4()
		out = append(out, int(b[2]-o.first.As4()[2])*200+int(b[3])-10)
	}
	slices.Sort(out)
	return out
}

// expect compares what is registered with ranges of pods.
func (o *rollout) expect(when string, ranges ...[2]int) {
	o.Helper()
	var want []int
	for _, r := range ranges {
		for n := r[0]; n < r[1]; n++ {
			want = append(want, n)
		}
	}
	if got := o.all(); !slices.Equal(got, want) {
		o.Errorf("%s: pods %v are registered, want %v", when, got, want)
	}
}

func sharedRollout(t *testing.T, target string) *rollout {
	o := newRollout(t)
	o.svc.Annotations[multiKey] = "true"
	o.svc.Annotations["service.beta.kubernetes.io/aws-load-balancer-nlb-target-type"] = target
	return o
}

// TestSharedTargetGroup: two clusters have pods behind one target group, and each takes out
// its own ones alone, a new process too.
func TestSharedTargetGroup(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		a := sharedRollout(t, "ip")
		b := a.another()
		a.serve(a.pods(0, 10))
		b.serve(b.pods(100, 105))
		a.expect("both", [2]int{0, 10}, [2]int{100, 105})
		a.serve(a.pods(5, 12))
		b.serve(b.pods(101, 106))
		a.expect("each replaced some", [2]int{5, 12}, [2]int{101, 106})

		a.subject.Control().Journal.Reset()
		a.restart()
		a.serve(a.pods(5, 12))
		for _, e := range a.subject.Control().Journal.Entries() {
			if e.Write {
				t.Errorf("a new process that finds all as wanted calls %s", e.Operation)
			}
		}
		a.restart()
		a.serve(a.pods(8, 12))
		a.expect("new process", [2]int{8, 12}, [2]int{101, 106})

		a.subject.notes = berth.NewNotes(fake.NewClientset())
		a.restart()
		a.serve(a.pods(10, 13))
		a.expect("note is lost, so the owner of the old ones is unknown", [2]int{8, 13}, [2]int{101, 106})
		a.serve(a.pods(11, 13))
		a.expect("what was registered since is known", [2]int{8, 10}, [2]int{11, 13}, [2]int{101, 106})
	})
}

// TestSharedTargetGroupSpoilt: an invalid value deregisters no target.
func TestSharedTargetGroupSpoilt(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		a := sharedRollout(t, "ip")
		b := a.another()
		a.serve(a.pods(0, 3))
		b.serve(b.pods(100, 103))
		a.svc.Annotations[multiKey] = "of course"
		a.restart()
		d, err := a.r.Draft(t.Context(), reconcile.Job{Service: a.svc, Slices: a.pods(1, 4)})
		if err != nil {
			t.Fatal(err)
		}
		a.r.Run(t.Context(), d, nil)
		a.expect("bad value", [2]int{1, 4}, [2]int{100, 103})
	})
}

// TestSharedBeforeKnown: targets that were read before the key was set are others' as
// well, unless they are wanted.
func TestSharedBeforeKnown(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		a := sharedRollout(t, "ip")
		b := a.another()
		b.serve(b.pods(100, 103))
		delete(a.svc.Annotations, multiKey)
		d, err := a.r.Draft(t.Context(), reconcile.Job{Service: a.svc, Slices: a.pods(0, 3)})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(d.Have.Of(model.KindTargets)); n != 1 {
			t.Fatalf("%d sets of targets found, want 1", n)
		}
		a.svc.Annotations[multiKey] = "true"
		a.serve(a.pods(0, 3))
		a.expect("key came after the read", [2]int{0, 3}, [2]int{100, 103})
	})
}
