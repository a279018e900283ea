package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// listChanges returns pairs of the existing Service and its next version; nil is none.
func listChanges() map[string][2]*corev1.Service {
	first := func() *corev1.Service { return newShop("a", map[int32]int32{80: 30080, 443: 30443}) }
	return map[string][2]*corev1.Service{
		"create":          {nil, first()},
		"delete":          {first(), nil},
		"port exchanged":  {first(), newShop("a", map[int32]int32{80: 30080, 8443: 30444})},
		"node port moved": {first(), newShop("a", map[int32]int32{80: 30081, 443: 30443})},
		"all replaced":    {first(), newShop("a", map[int32]int32{80: 30081, 443: 30444}, "scheme=internal")},
	}
}

func jobOf(svc, before *corev1.Service) reconcile.Job {
	if svc == nil {
		return releaseJob(before)
	}
	return jobFor(svc)
}

// TestCrashAnywhere kills the process at every writing call, committed or not,
// and lets another one finish.
func TestCrashAnywhere(t *testing.T) {
	for name, pair := range listChanges() {
		before, after := pair[0], pair[1]
		prepare := func() *world {
			w := newWorld()
			if before != nil {
				startKnown(w).settle(t, jobFor(before))
			}
			w.calls = 0
			return w
		}
		whole := prepare()
		startKnown(whole).settle(t, jobOf(after, before))
		goal, calls := whole.show(t), whole.calls
		if calls == 0 {
			t.Errorf("%s: nothing to crash in", name)
		}
		if after == nil && len(goal) > 0 {
			t.Errorf("%s leaves %v", name, goal)
		}
		everyCrash(calls, func(k int, commit bool) {
			w := prepare()
			w.crashAt, w.commit = k, commit
			if res, err := startKnown(w).once(jobOf(after, before)); err == nil && res.Clean {
				t.Errorf("%s, call %d: a process that died says that all is well", name, k)
			}
			w.crashAt = 0
			startKnown(w).settle(t, jobOf(after, before))
			if got := w.show(t); !slices.Equal(goal, got) {
				t.Errorf("%s, call %d, committed %v: %v, want %v", name, k, commit, got, goal)
			}
		})
	}
}

// everyCrash runs a world for every call at which a process can die, all at the
// same time, since most of their time is waiting for company in a read.
func everyCrash(calls int, f func(k int, commit bool)) {
	var wg sync.WaitGroup
	for k := 1; k <= calls; k++ {
		for _, commit := range []bool{false, true} {
			wg.Go(func() { f(k, commit) })
		}
	}
	wg.Wait()
}

// TestCrashThenDelete: whatever a dead process left behind, a release finds it.
func TestCrashThenDelete(t *testing.T) {
	for name, pair := range listChanges() {
		everyCrash(12, func(k int, commit bool) {
			w := newWorld()
			if pair[0] != nil {
				startKnown(w).settle(t, jobFor(pair[0]))
			}
			w.crashAt, w.commit = w.calls+k, commit
			if _, err := startKnown(w).once(jobOf(pair[1], pair[0])); err != nil {
				t.Error(err)
			}
			w.crashAt = 0
			startKnown(w).settle(t, releaseJob(newShop("a", one)))
			if left := w.show(t); len(left) > 0 {
				t.Errorf("%s, call %d, committed %v: left %v", name, k, commit, left)
			}
		})
	}
}

// TestTheSameProcessGoesOn: an answer that is lost is no crash.
func TestTheSameProcessGoesOn(t *testing.T) {
	for name, pair := range listChanges() {
		everyCrash(12, func(k int, commit bool) {
			w := newWorld()
			p := startKnown(w)
			if pair[0] != nil {
				p.settle(t, jobFor(pair[0]))
			}
			w.crashAt, w.commit = w.calls+k, commit
			if _, err := p.once(jobOf(pair[1], pair[0])); err != nil {
				t.Error(err)
			}
			w.crashAt = 0
			p.settle(t, jobOf(pair[1], pair[0]))
			fresh := newWorld()
			if pair[1] != nil {
				startKnown(fresh).settle(t, jobFor(pair[1]))
			}
			if got, goal := w.show(t), fresh.show(t); !slices.Equal(goal, got) {
				t.Errorf("%s, call %d, committed %v: %v, want %v", name, k, commit, got, goal)
			}
		})
	}
}

func TestPolicies(t *testing.T) {
	noCalls := func(plan.Step) bool { return false }
	for name, tc := range map[string]struct {
		policy  plan.StepFilter
		allowed func(plan.Step) bool
	}{
		"dry run":      {plan.DryRun, noCalls},
		"no delete":    {plan.NoDelete, func(s plan.Step) bool { return s.ID.Action != plan.Delete }},
		"no replace":   {plan.NoReplace, func(s plan.Step) bool { return s.Reason != plan.Replaced }},
		"no interrupt": {plan.NoInterrupt, func(s plan.Step) bool { return s.Impact != plan.Interrupts }},
	} {
		for change, pair := range listChanges() {
			t.Run(name+", "+change, func(t *testing.T) {
				w := newWorld()
				if pair[0] != nil {
					startKnown(w).settle(t, jobFor(pair[0]))
				}
				p := startKnown(w, tc.policy)
				d, err := p.Draft(context.Background(), jobOf(pair[1], pair[0]))
				if err != nil {
					t.Fatal(err)
				}
				w.refuse = func(s plan.Step) *plan.Outcome {
					planned := slices.ContainsFunc(d.Plan.Steps, func(o plan.Step) bool { return o.ID == s.ID })
					if !tc.allowed(s) || !planned {
						t.Errorf("%s is written", s.ID)
					}
					return nil
				}
				res := p.Run(context.Background(), d, nil)
				if held := len(d.Plan.Blocked) > 0; held && (res.Clean || res.Released) {
					t.Errorf("clean %v, released %v although %d steps are held", res.Clean, res.Released, len(d.Plan.Blocked))
				}
			})
		}
	}
}

func TestLedgerReadiness(t *testing.T) {
	a, b := newShop("a", map[int32]int32{80: 30080}), newShop("b", map[int32]int32{80: 31080})
	w := newWorld()
	first := startKnown(w)
	first.settle(t, jobFor(a))
	first.settle(t, jobFor(b))

	p := startProcess(w, testclock.NewFakeClock(time.Unix(1e9, 0)))
	res, err := p.once(releaseJob(a))
	if err != nil || res.Released || !res.Waits || res.Wait <= 0 || res.Wait > 10*time.Second {
		t.Errorf("error %v, released %v, waits %v %v: want a short wait", err, res.Released, res.Waits, res.Wait)
	}
	for _, evidence := range []string{"a lb public", "a pool 30080 [n1 n2]", "rule health", "rule node port 30080"} {
		if !slices.Contains(w.show(t), evidence) {
			t.Errorf("%q was deleted before all its users were known", evidence)
		}
	}
	p.settle(t, jobFor(b))
	p.AllKnown()
	p.settle(t, releaseJob(a))
	checkEqual(t, []string{"b lb public", "b listener 80 to 31080", "b pool 31080 [n1 n2]", "rule health", "rule node port 31080"}, w.show(t))
}

// TestSharedEntries: the last of two that want a rule takes it along, whatever
// the order, together or one after the other, in one process or in two.
func TestSharedEntries(t *testing.T) {
	a, b := newShop("a", map[int32]int32{80: 30080}), newShop("b", map[int32]int32{80: 31080})
	both := func() *process {
		p := startKnown(newWorld())
		p.settle(t, jobFor(a))
		p.settle(t, jobFor(b))
		return p
	}
	t.Run("a then b", func(t *testing.T) {
		p := both()
		p.settle(t, releaseJob(a))
		checkEqual(t, []string{"b lb public", "b listener 80 to 31080", "b pool 31080 [n1 n2]", "rule health", "rule node port 31080"}, p.w.show(t))
		p.settle(t, releaseJob(b))
		checkEqual(t, []string{}, p.w.show(t))
	})
	t.Run("b then a, each in a process of its own", func(t *testing.T) {
		w := both().w
		p := startKnown(w)
		p.settle(t, jobFor(a))
		p.settle(t, releaseJob(b))
		startKnown(w).settle(t, releaseJob(a))
		checkEqual(t, []string{}, w.show(t))
	})
	t.Run("drafted together, run in turn", func(t *testing.T) {
		p := both()
		da, errA := p.Draft(context.Background(), releaseJob(a))
		db, errB := p.Draft(context.Background(), releaseJob(b))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		p.Run(context.Background(), da, nil)
		p.Run(context.Background(), db, nil)
		p.settle(t, releaseJob(a))
		p.settle(t, releaseJob(b))
		checkEqual(t, []string{}, p.w.show(t))
	})
	t.Run("one comes while the other one's removal is on its way", func(t *testing.T) {
		p := startKnown(newWorld())
		p.settle(t, jobFor(a))
		d, err := p.Draft(context.Background(), releaseJob(a))
		if err != nil {
			t.Fatal(err)
		}
		p.settle(t, jobFor(b))
		p.Run(context.Background(), d, nil)
		p.settle(t, releaseJob(a))
		checkEqual(t, []string{"b lb public", "b listener 80 to 31080", "b pool 31080 [n1 n2]", "rule health", "rule node port 31080"}, p.w.show(t))
	})
	t.Run("a Service of unknown wishes", func(t *testing.T) {
		p := both()
		p.Forget(reconcile.OwnerOf(b))
		p.EnterUnknown(reconcile.OwnerOf(b))
		p.settle(t, releaseJob(a))
		checkEqual(t, true, slices.Contains(p.w.show(t), "rule health"))
	})
}

func TestAShadowDoesNotHideWhatIsKnown(t *testing.T) {
	a, b := newShop("a", map[int32]int32{80: 30080}), newShop("b", map[int32]int32{80: 31080})
	p := startKnown(newWorld())
	p.settle(t, jobFor(a))
	p.settle(t, jobFor(b))
	p.EnterUnknown(reconcile.OwnerOf(b)) // a fault in between
	p.settle(t, releaseJob(b))
	p.settle(t, releaseJob(a))
	checkEqual(t, []string{}, p.w.show(t))
}

// TestRefusedNewServiceKeepsNothing: a new Service with an invalid spec keeps no shared
// resource, since nothing was ever created for it; one that may have been served does.
func TestRefusedNewServiceKeepsNothing(t *testing.T) {
	for _, fresh := range []bool{true, false} {
		a, bad := newShop("a", map[int32]int32{80: 30080}), newShop("bad", map[int32]int32{80: 31080}, "scheme=sideways")
		p := startKnown(newWorld())
		p.settle(t, jobFor(a))
		for _, job := range []reconcile.Job{{Service: bad, NeverProvisioned: fresh}, {Service: bad}} {
			d, err := p.Draft(context.Background(), job)
			if err != nil || d.Intent != reconcile.LeaveAlone {
				t.Fatalf("fresh %t: intent %v, %v", fresh, d.Intent, err)
			}
		}
		p.settle(t, releaseJob(a))
		checkEqual(t, !fresh, slices.Contains(p.w.show(t), "rule health"))
	}
}

// TestRefusedUsesWhatWasFound: an invalid Service that serves nothing uses the shared resources
// that were found of it and keeps no others, also in a process that has just started. If the
// read was incomplete, it may use any of them.
func TestRefusedUsesWhatWasFound(t *testing.T) {
	for _, tc := range []struct {
		name  string
		finds bool // the rule is found to be its own
		blind []stack.Kind
		stays bool
	}{
		{"nothing is there", false, nil, false},
		{"it uses the rule", true, nil, true},
		{"not all is seen", false, []stack.Kind{kindPool}, true},
	} {
		a, bad := newShop("a", map[int32]int32{80: 30080}), newShop("bad", map[int32]int32{80: 31080}, "scheme=sideways")
		w, cloud := newWorld(), toyCloud()
		cloud.KeepServing = func(_ providers.Input[string], _ struct{}, have *stack.Stack) *stack.Stack {
			out := &stack.Stack{Owner: have.Owner}
			for _, res := range have.Resources {
				if res.Proof != stack.None || tc.finds {
					out.Put(res)
				}
			}
			return out
		}
		p := startIn(cloud, w, testclock.NewFakeClock(time.Unix(1e9, 0)))
		p.AllKnown()
		p.settle(t, jobFor(a))
		w.blind = tc.blind
		d, err := p.Draft(context.Background(), jobFor(bad))
		w.blind = nil
		if err != nil || d.Intent != reconcile.LeaveAlone {
			t.Fatalf("%s: intent %v, %v", tc.name, d.Intent, err)
		}
		p.settle(t, releaseJob(a))
		if got := slices.Contains(w.show(t), "rule health"); got != tc.stays {
			t.Errorf("%s: the rule stays: %t, want %t", tc.name, got, tc.stays)
		}
	}
}

// TestManyServices creates, changes and deletes at the same time.
func TestManyServices(t *testing.T) {
	// In virtual time: a Service that arrives during a read joins the next batch.
	synctest.Test(t, func(t *testing.T) {
		p := startKnown(newWorld())
		var wg sync.WaitGroup
		const n = 60
		for i := range n {
			wg.Go(func() {
				name := fmt.Sprintf("s%d", i)
				svc := newShop(name, map[int32]int32{80: 30000 + int32(i)})
				p.settle(t, jobFor(svc))
				p.settle(t, jobFor(newShop(name, map[int32]int32{80: 30000 + int32(i), 81: 31000 + int32(i)})))
				p.settle(t, releaseJob(svc))
			})
		}
		wg.Wait()
		checkEqual(t, []string{}, p.w.show(t))
		// Each is read when it is created and when it is deleted. The last ones, if they are deleted
		// at the same moment, are read once more for shared resources: at most 32 in one read.
		if reads := p.w.deep; reads > 2*n+32 {
			t.Errorf("%d reads for %d Services", reads, n)
		}
	})
}

func TestRefusedMembersAreNamedAndNotLearnt(t *testing.T) {
	p := startKnown(newWorld())
	svc := newShop("a", one)
	p.settle(t, jobFor(svc))
	p.w.refuse = func(s plan.Step) *plan.Outcome {
		if s.ID.Part != "nodes+" {
			return nil
		}
		return &plan.Outcome{Sent: plan.WasSent, Refused: []plan.Refusal{{Member: "bad", Err: fault.New(fault.Invalid, "no such machine")}}}
	}
	p.SetNodes([]nodeports.Node{newNode("n1"), newNode("n2"), newNode("bad")})
	res, err := p.once(jobFor(svc))
	if err != nil || res.Clean || res.Err == nil {
		t.Errorf("a refused member is not named: error %v, clean %v, %v", err, res.Clean, res.Err)
	}
	got, _ := res.Report.Have.Get(stack.Key{Kind: kindMembers, Name: "80"})
	checkEqual(t, members{Nodes: []string{"n1", "n2"}}, got.Spec)
}
