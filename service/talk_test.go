package service

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	testclock "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// newReporting returns a visit whose events can be read, and its clock.
func newReporting(svc *corev1.Service) (*visit, *record.FakeRecorder, *testclock.FakeClock) {
	v, clock := visitTo(svc)
	events := record.NewFakeRecorder(20)
	v.recorder = events
	return v, events, clock
}

// recordedEvents returns all recorded events.
func recordedEvents(r *record.FakeRecorder) []string {
	var out []string
	for {
		select {
		case e := <-r.Events:
			out = append(out, e)
		default:
			return out
		}
	}
}

// TestEventsAreRepeated: a warning that still holds is recorded again after half an hour
// and not sooner; one that had ended is recorded when it returns; a change is recorded
// once.
func TestEventsAreRepeated(t *testing.T) {
	v, events, clock := newReporting(newClaimService("berth"))
	wrong := &reconcile.Draft{Parsed: reconcile.Parsed{Problems: annotations.Problems{{Key: "spec.ports", Code: annotations.CodeMixed, Message: "mixes protocols"}}}}
	run := func(d *reconcile.Draft) []string {
		talk := v.newTalk()
		talk.problems(d)
		talk.say(status.EventEnsured, "Ensured load balancer")
		talk.keep()
		return recordedEvents(events)
	}
	warning, ensured := "Warning UnsupportedSpec spec.ports: mixes protocols", "Normal EnsuredLoadBalancer Ensured load balancer"
	for _, tc := range []struct {
		after time.Duration
		draft *reconcile.Draft
		want  []string
	}{
		{0, wrong, []string{warning, ensured}},
		{29 * time.Minute, wrong, nil},
		{time.Minute, wrong, []string{warning}},
		{time.Minute, wrong, nil},
		{time.Minute, &reconcile.Draft{}, nil},
		{time.Minute, wrong, []string{warning}},
	} {
		clock.Step(tc.after)
		if d := cmp.Diff(tc.want, run(tc.draft)); d != "" {
			t.Errorf("%v later (-want +got):\n%s", tc.after, d)
		}
	}
}

// TestMoved: the event of a switch has the old and the new address.
func TestMoved(t *testing.T) {
	balancer := stack.Key{Kind: "lb", Name: "old"}
	gone := engine.Result{Step: gatedStep("lb")}
	gone.Step.ID.Key = balancer
	waits, went := gone, gone
	waits.State, went.State = engine.Waiting, engine.Done
	found := func(job reconcile.Job) reconcile.Draft {
		return reconcile.Draft{Job: job, Found: []stack.Key{balancer}}
	}
	for name, tc := range map[string]struct {
		before, after string
		draft         reconcile.Draft
		results       []engine.Result
		want          string
	}{
		"switching":          {"old.example.com", "new.example.com", found(reconcile.Job{}), []engine.Result{waits}, "ReplacingLoadBalancer The new load balancer serves at new.example.com; lb/old is deleted a minute after the switch, and with it old.example.com"},
		"switched":           {"new.example.com", "new.example.com", found(reconcile.Job{}), []engine.Result{went}, "ReplacedLoadBalancer The old load balancer lb/old is deleted; the new one serves at new.example.com"},
		"made again":         {"old.example.com", "new.example.com", reconcile.Draft{}, nil, "ReplacedLoadBalancer The load balancer has a new address: new.example.com; old.example.com no longer leads to it"},
		"the same":           {"lb.example.com", "lb.example.com", found(reconcile.Job{}), nil, ""},
		"taken over":         {"lb.example.com", "lb.example.com", found(reconcile.Job{Foreign: true}), nil, "AdoptedLoadBalancer The load balancer of another controller is now kept by this one; its address is lb.example.com"},
		"new, not taken":     {"", "lb.example.com", reconcile.Draft{Job: reconcile.Job{Foreign: true, NeverProvisioned: true}}, nil, ""},
		"is being taken off": {"old.example.com", "", found(reconcile.Job{Release: true}), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			svc := newClaimService("berth")
			v, events, _ := newReporting(svc)
			if tc.before != "" {
				svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{status.Hostname(tc.before)}
			}
			res := resultOf(tc.draft, tc.results...)
			res.Clean = true
			if tc.after != "" {
				res.Status.Ingress = []corev1.LoadBalancerIngress{status.Hostname(tc.after)}
			}
			v.newTalk().moved(res)
			if got := strings.Join(recordedEvents(events), "\n"); strings.TrimPrefix(got, "Normal ") != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// TestFirstSteps: an event names a few steps and counts the others.
func TestFirstSteps(t *testing.T) {
	p := plan.Plan{Steps: []plan.Step{stepOf("a"), stepOf("b"), stepOf("c"), stepOf("d"), stepOf("e")}}
	if got := firstSteps(p); strings.Count(got, "delete") != 3 || !strings.HasSuffix(got, "and 2 more") {
		t.Errorf("got %q", got)
	}
}

// TestManyProblemsAreOneEvent: a Service with thousands of unknown keys gets one event
// with their number.
func TestManyProblemsAreOneEvent(t *testing.T) {
	v, events, _ := newReporting(newClaimService("berth"))
	draft := &reconcile.Draft{}
	for i := range 4500 {
		draft.Problems = append(draft.Problems, annotations.Problem{
			Key: fmt.Sprintf("berth-lb.io/unknown-%04d", i), Code: annotations.CodeUnknown, Severity: annotations.Warning, Message: "is not known",
		})
	}
	v.talk.problems(draft)
	got := recordedEvents(events)
	if len(got) != 1 || !strings.HasPrefix(got[0], "Warning UnknownAnnotation 4500 in all, such as: berth-lb.io/unknown-0000: is not known;") {
		t.Errorf("%d events, the first %.200s", len(got), strings.Join(got[:min(1, len(got))], ""))
	}
}

// TestSilenceOfTheCloudIsToldOnce: whichever call meets a cloud that does not answer, the
// user hears of it once; another fault is another event.
func TestSilenceOfTheCloudIsToldOnce(t *testing.T) {
	v, events, _ := newReporting(newClaimService("berth"))
	for _, tc := range []struct {
		err  error
		told int
	}{
		{fault.New(fault.Ambiguous, "create load-balancer: no answer"), 1},
		{fault.New(fault.Unavailable, "no answer"), 0},
		{fault.New(fault.Denied, "not allowed"), 1},
	} {
		v.newTalk().failed(tc.err).keep()
		if got := recordedEvents(events); len(got) != tc.told {
			t.Errorf("%v: told %q, want %d events", tc.err, got, tc.told)
		}
	}
}

// TestFailureTellsWhatHelps: events alone, as kubectl describe shows them, name the next
// step.
func TestFailureTellsWhatHelps(t *testing.T) {
	v, events, _ := newReporting(newClaimService("berth"))
	v.newTalk().failed(fault.New(fault.Denied, "not allowed.")).keep()
	want := []string{"Warning SyncLoadBalancerFailed Error syncing load balancer: not allowed; the controller's credentials lack this right: grant it, see docs/permissions"}
	if d := cmp.Diff(want, recordedEvents(events)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestEnsuredAfterWaiting: a load balancer that becomes ready some time after its last
// write is reported, and once.
func TestEnsuredAfterWaiting(t *testing.T) {
	v, events, _ := newReporting(newClaimService("berth"))
	made := engine.Report{Results: []engine.Result{{State: engine.Done, Step: plan.Step{ID: plan.StepID{Action: plan.Create}}}}}
	var told []string
	for _, r := range []reconcile.Result{
		{Draft: &reconcile.Draft{}, Report: made, Waits: true},
		{Draft: &reconcile.Draft{}, Clean: true},
		{Draft: &reconcile.Draft{}, Clean: true},
	} {
		talk := v.newTalk()
		talk.result(r, false)
		talk.keep()
		told = append(told, strings.Join(recordedEvents(events), ", "))
	}
	if d := cmp.Diff([]string{"", "Normal EnsuredLoadBalancer Ensured load balancer", ""}, told); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
