package service

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

func stepOf(kind string) plan.Step {
	return plan.Step{ID: plan.StepID{Key: stack.Key{Kind: stack.Kind(kind)}, Action: plan.Delete}}
}

func gatedStep(kind string) plan.Step {
	s := stepOf(kind)
	s.Gate = plan.Gate{After: time.Minute, Since: "test"}
	return s
}

func resultOf(d reconcile.Draft, results ...engine.Result) reconcile.Result {
	r := reconcile.Result{Draft: &d, Report: engine.Report{Results: results}}
	r.Err = r.Report.Err()
	r.Wait, r.Waits = r.Report.Wait()
	return r
}

func heldBy(by plan.BlockedBy) reconcile.Draft {
	return reconcile.Draft{Plan: plan.Plan{Blocked: []plan.Blocked{{Step: stepOf("x"), By: by, Why: "why"}}}}
}

func failedResult(m fault.Meaning) engine.Result {
	return engine.Result{Step: stepOf("x"), State: engine.Failed, Outcome: plan.Failed(fault.New(m, "no"))}
}

var refused = annotations.Problems{{Key: "k", Severity: annotations.Error}}

// visitTo is a visit of a Service in a loop on a cloud without outputs.
func visitTo(svc *corev1.Service) (*visit, *testclock.FakeClock) {
	clock := testclock.NewFakeClock(time.Unix(1e9, 0))
	keys, err := annotations.NewSet("toy", nil)
	if err != nil {
		panic(err) // it declares nothing
	}
	c := &Controller{
		options: Options{Clock: clock}, seen: newMemory(), writes: newWrites(),
		reconciler: reconcile.New(providers.Bound{Annotations: keys}, reconcile.Options{}),
	}
	return c.visitOf(svc.Namespace+"/"+svc.Name, kit.Turn{}, svc), clock
}

func refusedEver(job reconcile.Job) reconcile.Result {
	return resultOf(reconcile.Draft{Job: job, Parsed: reconcile.Parsed{Intent: reconcile.LeaveAlone, Problems: refused}})
}

// TestJobOf: the marks on a Service give its recorded state, for the loop and for the
// command line.
func TestJobOf(t *testing.T) {
	finalizer := func(svc *corev1.Service) { svc.Finalizers = []string{OwnFinalizer} }
	record := func(digest string) func(*corev1.Service) {
		return func(svc *corev1.Service) {
			finalizer(svc)
			svc.Annotations = map[string]string{status.AnnotationApplied: NewRecord(svc, digest, "").String()}
		}
	}
	for name, tc := range map[string]struct {
		change func(*corev1.Service)
		want   reconcile.Job
	}{
		"new":                   {func(*corev1.Service) {}, reconcile.Job{NeverProvisioned: true}},
		"of another controller": {finalizer, reconcile.Job{Foreign: true}},
		"claimed":               {record(""), reconcile.Job{}},
		"served":                {record("abc"), reconcile.Job{Applied: "abc"}},
		"refused ever since":    {record(nothingMade), reconcile.Job{NothingMade: true}},
	} {
		svc := newClaimService("berth")
		tc.change(svc)
		got := *JobOf(svc, providers.Outputs{})
		got.Service = nil
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWanted(t *testing.T) {
	serving := status.Result{Ingress: []corev1.LoadBalancerIngress{status.Hostname("lb.example.com")}}
	clean := resultOf(reconcile.Draft{Parsed: reconcile.Parsed{Asked: "new"}})
	clean.Clean, clean.Status = true, serving
	halfway := resultOf(reconcile.Draft{Parsed: reconcile.Parsed{Asked: "new"}}, failedResult(fault.Quota))
	halfway.Status = serving
	keeping := halfway
	keeping.Addresses = reconcile.KeptAddresses
	untouched := resultOf(reconcile.Draft{Parsed: reconcile.Parsed{Intent: reconcile.LeaveAlone, Problems: refused}})
	switching := resultOf(reconcile.Draft{}, engine.Result{Step: gatedStep("old-lb"), State: engine.Waiting})
	known := func(digest string) *corev1.Service {
		svc := newClaimService("berth")
		svc.Annotations[status.AnnotationApplied] = NewRecord(svc, digest, "").String()
		return svc
	}
	for name, tc := range map[string]struct {
		svc       *corev1.Service
		result    reconcile.Result
		record    map[string]string
		addresses bool
		replacing bool
	}{
		"clean":                         {known("old"), clean, map[string]string{status.AnnotationApplied: "new;class=berth"}, true, false},
		"halfway, voided before":        {known(""), halfway, nil, true, false},
		"halfway, nothing recorded":     {newClaimService("berth"), halfway, nil, true, false},
		"halfway, the addresses kept":   {known(""), keeping, nil, false, false},
		"nothing done, nothing said":    {known("old"), untouched, nil, false, false},
		"refused from the beginning":    {known(""), refusedEver(reconcile.Job{NeverProvisioned: true}), map[string]string{status.AnnotationApplied: "none;class=berth"}, false, false},
		"refused, by an older process":  {known("none"), refusedEver(reconcile.Job{NothingMade: true}), map[string]string{status.AnnotationApplied: "none;class=berth"}, false, false},
		"held: the record holds":        {known("old"), resultOf(heldBy(plan.ByPolicy)), nil, false, false},
		"no address: the old one stays": {known(""), switching, nil, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			v, _ := visitTo(tc.svc)
			got := v.wanted(tc.result, false)
			if diff := cmp.Diff(tc.record, got.Annotations); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
			if has := got.LoadBalancer != nil; has != tc.addresses {
				t.Errorf("writes addresses %v, want %v", has, tc.addresses)
			}
			replacing := false
			for _, c := range got.Conditions {
				replacing = replacing || c.Type == status.TypeReplacing
			}
			if replacing != tc.replacing {
				t.Errorf("says that it is replacing %v, want %v", replacing, tc.replacing)
			}
		})
	}
}

// waitFor is a result that waits for as long as the cloud asks.
func waitFor(asked time.Duration, step plan.Step) reconcile.Result {
	return resultOf(reconcile.Draft{}, engine.Result{Step: step, State: engine.Waiting, Outcome: plan.Outcome{Wait: asked}})
}

// TestOfficialFinalizerIsEnough: as soon as a Service of a class of the cloud carries
// the finalizer of that class's own controller, ours is removed: a controller that takes
// over again removes only its own. Ours is kept while no other finalizer holds the
// Service.
func TestOfficialFinalizerIsEnough(t *testing.T) {
	serving := resultOf(reconcile.Draft{})
	serving.Status = status.Result{Ingress: []corev1.LoadBalancerIngress{status.Hostname("lb.example.com")}, Finalizers: []string{"cloud/finalizer"}}
	for name, tc := range map[string]struct {
		svc    *corev1.Service
		result reconcile.Result
		goes   bool
	}{
		"with the patch that writes it":         {newClaimService("berth", addOwnFinalizer), serving, true},
		"where it is already":                   {newClaimService("berth", addOwnFinalizer, addOfficialFinalizer), resultOf(reconcile.Draft{}), true},
		"not before it is written":              {newClaimService("berth", addOwnFinalizer), resultOf(reconcile.Draft{}), false},
		"not while the Service is deleted":      {newClaimService("berth", addOwnFinalizer, markDeleted), serving, false},
		"not for a class that has none":         {newClaimService("mine", addOwnFinalizer, addOfficialFinalizer), serving, false},
		"not the one of a class":                {newClaimService("", addStockFinalizer, addOfficialFinalizer), serving, false},
		"also for a Service without a class":    {newClaimService("", addStockFinalizer, addClasslessFinalizer), serving, true},
		"also of a Service that was other once": {newClaimService("berth", addOwnFinalizer, withRecordedClass("berth")), serving, true},
	} {
		t.Run(name, func(t *testing.T) {
			v, _ := visitTo(tc.svc)
			v.options.Classes.Default, v.options.Classes.Official = true, map[string][]string{"": {"cloud/none"}, "berth": {"cloud/finalizer"}}
			got := v.wanted(tc.result, false)
			if goes := slices.Contains(got.DropFinalizers, FinalizerFor(tc.svc)); goes != tc.goes {
				t.Errorf("ours goes: %v, want %v", goes, tc.goes)
			}
			if added := v.options.Classes.Hold(tc.svc).AddFinalizers; tc.goes && len(got.AddFinalizers) == 0 && len(added) > 0 {
				t.Errorf("added again: %v", added)
			}
		})
	}
}

// TestWaitsGrow: a long wait is checked less and less often, even if the cloud asks for
// shorter pauses; a gate opens at its time.
func TestWaitsGrow(t *testing.T) {
	for asked, want := range map[time.Duration][]time.Duration{
		0:                {5 * time.Second, 5 * time.Second, 5 * time.Second, 7500 * time.Millisecond, 11250 * time.Millisecond},
		2 * time.Second:  {2 * time.Second, 2 * time.Second, 2 * time.Second, 3 * time.Second, 4500 * time.Millisecond},
		90 * time.Second: {90 * time.Second, 90 * time.Second, 90 * time.Second},
	} {
		v, clock := visitTo(newClaimService(""))
		var got []time.Duration
		for range want {
			wait := v.nextWait(waitFor(asked, stepOf("x")))
			if again := v.nextWait(waitFor(asked, stepOf("x"))); again != wait {
				t.Errorf("looked at twice at a time: waits %v, then %v", wait, again)
			}
			got = append(got, wait)
			clock.Step(wait)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("asked for %v (-want +got):\n%s", asked, diff)
		}
		clock.Step(time.Hour)
		if wait := v.nextWait(waitFor(asked, stepOf("x"))); wait != max(asked, maxWait) {
			t.Errorf("asked for %v: waits %v after an hour", asked, wait)
		}
		if wait := v.nextWait(waitFor(3*time.Second, gatedStep("x"))); wait != 3*time.Second {
			t.Errorf("a gate that opens in 3s is looked at in %v", wait)
		}
	}
}

// TestTheSoonestFailureDecides: what could go well in seconds does not wait for what
// only the user can mend.
func TestTheSoonestFailureDecides(t *testing.T) {
	member := plan.Outcome{Refused: []plan.Refusal{{Member: "m", Err: fault.New(fault.Invalid, "no such member")}}}
	for name, tc := range map[string]struct {
		results []engine.Result
		want    time.Duration
	}{
		"only the user can help":            {[]engine.Result{failedResult(fault.Invalid)}, maxBackoff},
		"refused first, then no answer":     {[]engine.Result{failedResult(fault.Invalid), failedResult(fault.Unavailable)}, minBackoff},
		"a bad member and a call that fell": {[]engine.Result{{Step: stepOf("x"), State: engine.Done, Outcome: member}, failedResult(fault.Ambiguous)}, minBackoff},
	} {
		v, _ := visitTo(newClaimService(""))
		if got := v.soonest(runFailures(resultOf(reconcile.Draft{}, tc.results...))); got != tc.want {
			t.Errorf("%s: waits %v, want %v", name, got, tc.want)
		}
	}
}

// TestOvertaken: only what says that the Service has changed is no failure.
func TestOvertaken(t *testing.T) {
	invalid := func(fields ...string) error {
		var all field.ErrorList
		for _, f := range fields {
			all = append(all, field.Invalid(field.NewPath(f), "x", "no"))
		}
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Service").GroupKind(), "web", all)
	}
	services := corev1.Resource("services")
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"gone":                   {apierrors.NewNotFound(services, "web"), true},
		"changed":                {apierrors.NewConflict(services, "web", errors.New("changed")), true},
		"another of its name":    {invalid("metadata.uid"), true},
		"being deleted":          {invalid("metadata.finalizers"), true},
		"of another type":        {invalid("status.loadBalancer.ingress"), true},
		"too much text":          {invalid("metadata.annotations"), false},
		"a bad condition":        {invalid("status.conditions"), false},
		"one good reason of two": {invalid("metadata.uid", "status.conditions"), false},
		"no reason":              {invalid(), false},
		"another error":          {errors.New("cut"), false},
	} {
		if got := isOutdated(tc.err); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestGatesCountFromTheSwitch(t *testing.T) {
	gate := plan.Gate{After: time.Minute}
	svc := newClaimService("")
	v, clock := visitTo(svc)
	if wait := v.gates()(gate); wait != time.Minute {
		t.Errorf("nothing is switched yet: %v", wait)
	}
	svc.Status.Conditions = []metav1.Condition{{
		Type: status.TypeReplacing, Status: metav1.ConditionTrue, LastTransitionTime: metav1.Time{Time: clock.Now().Add(-45 * time.Second)},
	}}
	if wait := v.gates()(gate); wait != 15*time.Second {
		t.Errorf("45 s after the switch: %v, want 15s", wait)
	}
	if wait := plan.OpenGates(gate); wait > 0 {
		t.Errorf("a release waits %v", wait)
	}
}
