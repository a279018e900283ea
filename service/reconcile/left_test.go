package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/observed"
	"github.com/berth-lb/berth/stack/plan"
)

func TestBadAnnotation(t *testing.T) {
	svc := newShop("a", one)
	bad := newShop("a", map[int32]int32{81: 30081}, "scheme=nonsense")
	t.Run("the last good state follows the nodes", func(t *testing.T) {
		p := startKnown(newWorld())
		p.settle(t, jobFor(svc))
		p.SetNodes([]nodeports.Node{newNode("n3")})
		res, err := p.once(jobFor(bad))
		if err != nil || res.Err != nil || res.Clean || !res.Draft.Problems.Errors() {
			t.Errorf("errors %v %v, clean %v, problems %v", err, res.Err, res.Clean, res.Draft.Problems)
		}
		checkEqual(t, []string{"a lb public", "a listener 80 to 30080", "a pool 30080 [n3]", "rule health", "rule node port 30080"}, p.w.show(t))
	})
	t.Run("never good: nothing is touched, shared things are kept, and it is not hot", func(t *testing.T) {
		p := startKnown(newWorld())
		p.settle(t, jobFor(svc))
		other := newShop("b", map[int32]int32{80: 31080}, "scheme=nonsense")
		res, err := p.once(jobFor(other))
		if err != nil || res.Draft.Intent != reconcile.LeaveAlone || len(res.Status.Ingress) > 0 {
			t.Errorf("error %v, intent %v", err, res.Draft.Intent)
		}
		if next := p.NextRead(reconcile.OwnerOf(other)); next < time.Minute {
			t.Errorf("looked at again in %v", next)
		}
		p.settle(t, releaseJob(svc))
		checkEqual(t, []string{"rule health"}, p.w.show(t))
	})
	t.Run("released all the same", func(t *testing.T) {
		p := startKnown(newWorld())
		p.settle(t, jobFor(svc))
		p.settle(t, releaseJob(bad))
		checkEqual(t, []string{}, p.w.show(t))
	})
}

func TestRelease(t *testing.T) {
	svc := newShop("a", map[int32]int32{80: 30080, 443: 30443})
	t.Run("reads before it says so, and leaves nothing", func(t *testing.T) {
		p, young := startKnown(newWorld()), svc.DeepCopy()
		young.CreationTimestamp = metav1.NewTime(time.Unix(1e9, 0))
		p.settle(t, jobFor(young))
		checkEqual(t, cost{Narrow: 1, Writes: 6}, p.cost(func() { p.settle(t, releaseJob(young)) }))
		checkEqual(t, []string{}, p.w.show(t))
	})
	t.Run("reads everything where another process may have had more under way", func(t *testing.T) {
		p := startKnown(newWorld())
		p.settle(t, jobFor(svc))
		checkEqual(t, cost{Deep: 1, Writes: 6}, p.cost(func() { p.settle(t, releaseJob(svc)) }))
	})
	t.Run("what could not be seen is looked for again", func(t *testing.T) {
		p := startKnown(newWorld())
		p.settle(t, jobFor(svc))
		p = startKnown(p.w)
		p.w.blind = []stack.Kind{kindPool}
		if _, err := p.once(jobFor(svc)); err != nil {
			t.Fatal(err)
		}
		p.w.blind = nil
		p.settle(t, releaseJob(svc))
		checkEqual(t, []string{}, p.w.show(t))
	})
	t.Run("what was unknown is found", func(t *testing.T) {
		p := startKnown(newWorld())
		p.settle(t, jobFor(svc))
		p.w.things["pool-x"] = &thing{id: "pool-x", uid: "a", port: "8080", spec: pool{NodePort: 1}}
		p.w.things["pool-x/members"] = &thing{id: "pool-x/members", uid: "a", in: "pool-x", spec: members{}}
		p.settle(t, releaseJob(svc))
		checkEqual(t, []string{}, p.w.show(t))
	})
	t.Run("blind: never", func(t *testing.T) {
		p := startKnown(newWorld())
		p.settle(t, jobFor(svc))
		p.w.blind = []stack.Kind{kindPool}
		for range 3 {
			if res, err := p.once(releaseJob(svc)); err != nil || res.Released || !res.Waits && res.Err == nil {
				t.Errorf("error %v, released %v, waits %v", err, res.Released, res.Waits)
			}
		}
		p.w.blind = nil
		p.settle(t, releaseJob(svc))
		checkEqual(t, []string{}, p.w.show(t))
	})
	t.Run("nothing was ever there", func(t *testing.T) {
		p := startKnown(newWorld())
		checkEqual(t, cost{Deep: 1}, p.cost(func() { p.settle(t, releaseJob(svc)) }))
	})
}

func TestStaleIsReadAgain(t *testing.T) {
	svc := newShop("a", one)
	for name, tc := range map[string]struct {
		outcome plan.Outcome
		deep    int
	}{
		"lost answer":   {plan.Outcome{Err: fault.New(fault.Unavailable, "cut"), Sent: plan.MaybeSent}, 1},
		"not found":     {plan.Failed(fault.New(fault.NotFound, "gone")), 1},
		"unfinished":    {plan.Outcome{Wait: time.Second, Sent: plan.WasSent}, 1},
		"quota":         {plan.Failed(fault.New(fault.Quota, "full")), 0},
		"busy, refused": {plan.Failed(fault.New(fault.Pending, "busy")), 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := startKnown(newWorld())
			p.settle(t, jobFor(svc))
			p.w.refuse = func(plan.Step) *plan.Outcome { return &tc.outcome }
			p.SetNodes([]nodeports.Node{newNode("n3")})
			if res, err := p.once(jobFor(svc)); err != nil || res.Clean {
				t.Fatalf("error %v, clean %v", err, res.Clean)
			}
			p.w.refuse = nil
			checkEqual(t, cost{Deep: tc.deep, Writes: 2}, p.cost(func() { p.settle(t, jobFor(svc)) }))
		})
	}
}

func TestBlindReadsCreateNothing(t *testing.T) {
	svc := newShop("a", one)
	w := newWorld()
	startKnown(w).settle(t, jobFor(svc))
	before := w.show(t)
	w.blind = []stack.Kind{kindPool, kindMembers}
	p := startKnown(w)
	for range 3 {
		res, err := p.once(jobFor(svc))
		if err != nil || res.Clean || !res.Draft.Obstructed() {
			t.Errorf("error %v, clean %v, obstructed %v", err, res.Clean, res.Draft.Obstructed())
		}
		checkEqual(t, before, w.show(t))
	}
	w.blind = nil // without any notice
	p.settle(t, jobFor(svc))
	checkEqual(t, before, w.show(t))
}

// TestLateWhileReading: the calls of a predecessor are read back after they must have
// arrived, even if the previous read took until then.
func TestLateWhileReading(t *testing.T) {
	svc := newShop("a", one)
	w := newWorld()
	p := startLate(w)
	w.slow = func() {
		w.slow = nil
		w.things["lb-late"] = &thing{id: "lb-late", uid: string(svc.UID), spec: balancer{Scheme: "public"}}
		p.clock.Step(2 * reconcile.LeaderLateness)
	}
	job := releaseJob(svc)
	job.Applied = "by the previous process"
	p.settle(t, job)
	checkEqual(t, []string{}, w.show(t))
}

// TestLateTwin: what a previous process had under way when it ended is read once more, when it
// must have arrived, if the record does not show that its run was complete.
func TestLateTwin(t *testing.T) {
	svc := newShop("a", one)
	for name, tt := range map[string]struct {
		applied func(reconcile.Result) string // by the previous process
		removed bool
	}{
		"ended within its run": {func(reconcile.Result) string { return "" }, true},
		"ended after its run":  {func(res reconcile.Result) string { return res.Draft.Asked }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			before := startLate(w)
			job := jobFor(svc)
			job.Applied = tt.applied(before.settle(t, job))
			p := startLate(w)
			res := p.settle(t, job)
			w.things["pool-x"] = &thing{id: "pool-x", uid: "a", port: "8080", spec: pool{NodePort: 1}}
			w.things["pool-x/members"] = &thing{id: "pool-x/members", uid: "a", in: "pool-x", spec: members{}}
			job.Applied = res.Draft.Asked
			p.clock.Step(observed.LateCalls + time.Second)
			p.settle(t, job)
			if _, there := w.things["pool-x"]; there == tt.removed {
				t.Errorf("the late pool is there: %v", there)
			}
			checkEqual(t, cost{}, p.cost(func() { p.settle(t, job) }))
		})
	}
}

// TestLateReadsGrow: a Service whose record shows no complete run is read again 2, 4, 8 and 16 minutes after the start,
// whatever happens to it in between, and not again. A Service with a record is not.
func TestLateReadsGrow(t *testing.T) {
	w, minutes := newWorld(), []time.Duration{2, 4, 8, 16}
	p, job := startLate(w), jobFor(newShop("a", one))
	start := p.clock.Now()
	res := p.settle(t, job)
	job.Applied = res.Draft.Asked
	for i, at := range minutes {
		at *= time.Minute
		if due := p.clock.Now().Add(p.NextRead(res.Draft.Owner)).Sub(start); due != at {
			t.Fatalf("read %d is %v after the start, want %v", i+1, due, at)
		}
		checkEqual(t, cost{}, p.cost(func() { p.settle(t, job) }))
		p.clock.Step(start.Add(at).Sub(p.clock.Now()))
		late := fmt.Sprintf("pool-%d", i)
		w.things[late] = &thing{id: late, uid: "a", port: "8080", spec: pool{NodePort: 1}}
		w.things[late+"/members"] = &thing{id: late + "/members", uid: "a", in: late, spec: members{}}
		p.settle(t, job)
		if _, left := w.things[late]; left {
			t.Errorf("what was created %v after the start is left", at)
		}
		if i == 1 {
			p.Distrust(res.Draft.Owner)
			p.settle(t, job)
		}
	}
	if next := p.NextRead(res.Draft.Owner); next < 20*time.Minute {
		t.Errorf("another read is in %v", next)
	}
	recorded := startLate(w)
	job.Service.Spec.Ports[0].NodePort++ // changed since
	recorded.settle(t, job)
	if next := recorded.NextRead(res.Draft.Owner); next < 20*time.Minute {
		t.Errorf("after a complete run of the previous process a read is in %v", next)
	}
}

// TestLateReadIsNoLaterThanOthers: a shorter interval of reads for drift stays as it is.
func TestLateReadIsNoLaterThanOthers(t *testing.T) {
	svc, w, clock := newShop("a", one), newWorld(), testclock.NewFakeClock(time.Unix(1e9, 0))
	o := reconcile.Options{Now: clock.Now, GatherReleases: time.Millisecond, Lateness: reconcile.LeaderLateness, DriftInterval: 3 * time.Second}
	p := &process{Reconciler: reconcile.New(providers.Bind(toyCloud(), "", "cluster", w), o), w: w, clock: clock}
	p.SetNodes(twoNodes())
	p.AllKnown()
	p.settle(t, jobFor(svc))
	if wait := p.NextRead(reconcile.OwnerOf(svc)); wait > o.DriftInterval {
		t.Errorf("the next read is in %v", wait)
	}
}

// startLate starts a process whose predecessor may have had calls under way.
func startLate(w *world) *process {
	clock := testclock.NewFakeClock(time.Unix(1e9, 0))
	p := &process{Reconciler: reconcile.New(providers.Bind(toyCloud(), "", "cluster", w), reconcile.Options{Now: clock.Now, GatherReleases: time.Millisecond, Lateness: reconcile.LeaderLateness}), w: w, clock: clock}
	p.SetNodes(twoNodes())
	p.AllKnown()
	return p
}

// TestLatenessOfOthersOnly: a release waits for the writes of a previous process only if that
// process may have written to the cloud for the Service.
func TestLatenessOfOthersOnly(t *testing.T) {
	older, younger := newShop("a", one), newShop("a", one)
	older.CreationTimestamp, younger.CreationTimestamp = metav1.Unix(1e9-60, 0), metav1.Unix(1e9+60, 0)
	unwritten := releaseJob(older)
	unwritten.NothingMade = true
	for name, tt := range map[string]struct {
		serve, release reconcile.Job
		waits          bool
	}{
		"served by the previous process": {jobFor(older), releaseJob(older), true},
		"created since":                  {jobFor(younger), releaseJob(younger), false},
		"claimed here without marks":     {asNew(older), releaseJob(older), false},
		"never written":                  {jobFor(older), unwritten, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, now := newWorld(), time.Unix(1e9, 0)
			bound := providers.Bind(toyCloud(), "", "cluster", w)
			bound.ScopeForCreate = func(r providers.Request) (providers.Scope, error) { return providers.Scope{Owner: r.Owner}, nil }
			p := &process{Reconciler: reconcile.New(bound, reconcile.Options{Now: func() time.Time { return now }, GatherReleases: time.Millisecond, Lateness: reconcile.LeaderLateness}), w: w}
			p.SetNodes(twoNodes())
			p.AllKnown()
			if _, err := p.once(tt.serve); err != nil {
				t.Fatal(err)
			}
			result, err := p.once(tt.release)
			if err != nil || result.Err != nil || result.Waits != tt.waits || result.Released == tt.waits {
				t.Errorf("waits: %v, released: %v, error: %v, %v", result.Waits, result.Released, err, result.Err)
			}
		})
	}
}

// TestGoesOnBlind: what a change needs a second plan for is done at once, whatever else
// could not be seen.
func TestGoesOnBlind(t *testing.T) {
	svc := newShop("a", one)
	cloud := toyCloud()
	whole := cloud.Build
	cloud.Build = func(in providers.Input[string], facts struct{}, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
		out, problems, err := whole(in, facts, have)
		if lb, there := have.Get(lbKey); there {
			out.Put(ruleOf("to " + lb.ID)) // as where a rule names the address
		}
		return out, problems, err
	}
	w := newWorld()
	w.blind = []stack.Kind{"peering"} // nothing of that is wanted
	p := startIn(cloud, w, testclock.NewFakeClock(time.Unix(1e9, 0)))
	p.AllKnown()
	res, err := p.once(jobFor(svc))
	if err != nil || res.Err != nil || res.Clean || !res.Again {
		t.Fatalf("error %v, failed %v, clean %v, again %v", err, res.Err, res.Clean, res.Again)
	}
	res, err = p.once(jobFor(svc))
	if err != nil || res.Err != nil || res.Clean || res.Again {
		t.Fatalf("error %v, failed %v, clean %v, again %v", err, res.Err, res.Clean, res.Again)
	}
	checkEqual(t, true, slices.ContainsFunc(w.show(t), func(s string) bool { return strings.HasPrefix(s, "rule to lb-") }))
}

// TestBusy: while the cloud is busy with a load balancer, what is in it waits without
// being written or refused, and is done when it has ended; what has failed is no matter
// of time.
func TestBusy(t *testing.T) {
	two := newShop("a", map[int32]int32{80: 30080, 443: 30443})
	for name, tc := range map[string]struct {
		state stack.State
		by    plan.BlockedBy
		waits bool
	}{"pending": {stack.Pending, plan.ByBusy, true}, "failed": {stack.Failed, plan.ByFailed, false}} {
		t.Run(name, func(t *testing.T) {
			p := startKnown(newWorld())
			p.settle(t, jobFor(newShop("a", one)))
			p = startKnown(p.w)
			p.w.state = tc.state
			for range 2 {
				res, err := p.once(jobFor(two))
				if err != nil || res.Err != nil || res.Clean || res.Waits != tc.waits || !res.Draft.Obstructed() {
					t.Fatalf("error %v, failed %v, clean %v, waits %v, obstructed %v", err, res.Err, res.Clean, res.Waits, res.Draft.Obstructed())
				}
				if held := res.Draft.Plan.Blocked; len(held) != 3 || held[0].By != tc.by || held[1].Step.ID.String() != "create listener/443" {
					t.Fatalf("held: %v", held)
				}
			}
			p.w.state = stack.Ready // without any notice
			p.settle(t, jobFor(two))
		})
	}
}

func TestFilterThatLeavesNoNode(t *testing.T) {
	p := startKnown(newWorld())
	p.settle(t, jobFor(newShop("a", one)))
	before := p.w.show(t)
	for name, svc := range map[string]*corev1.Service{
		"members stay":               newShop("a", one, "node-label=nowhere"),
		"also those of the old pool": newShop("a", map[int32]int32{80: 30081}, "node-label=nowhere"),
	} {
		res, err := p.once(jobFor(svc))
		if err != nil || res.Clean || len(res.Draft.Plan.Blocked) == 0 {
			t.Errorf("%s: error %v, clean %v, plan %v", name, err, res.Clean, res.Draft.Plan)
		}
		got := slices.DeleteFunc(p.w.show(t), func(s string) bool { return s == "rule node port 30081" })
		checkEqual(t, before, got)
	}
	t.Log("a cluster without nodes is another thing")
	p.SetNodes(nil)
	p.settle(t, jobFor(newShop("a", one)))
	checkEqual(t, true, slices.Contains(p.w.show(t), "a pool 30080 []"))
}
