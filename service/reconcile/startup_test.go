package reconcile

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/observed"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// reconcilerAt returns a reconciler with the observations of a process that starts.
func reconcilerAt(started time.Time) *Reconciler {
	return &Reconciler{observed: observed.New(observed.Options{Now: func() time.Time { return started }, Interval: time.Hour})}
}

// TestRecheckAfterStart: a shared resource that a read just after the start shows may have been
// deleted by a previous process. It is read again when no read can be stale any more.
func TestRecheckAfterStart(t *testing.T) {
	started := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	group := stack.Resource{Key: stack.Key{Kind: "group"}, ID: "group-1", Ownership: stack.Shared, Proof: stack.Name}
	own := stack.Resource{Key: stack.Key{Kind: "lb"}, ID: "lb-1", Proof: stack.Tag}
	unproven := group
	unproven.Proof = stack.None
	later := started.Add(observed.StaleRead)
	for name, tc := range map[string]struct {
		applied string
		read    time.Duration
		made    bool
		found   stack.Resource
		want    time.Time
	}{
		"shared":                     {found: group, want: later},
		"shared, and made by itself": {found: group, made: true},
		"shared, and served before":  {found: group, applied: "digest"},
		"read later":                 {found: group, read: time.Minute},
		"shared, without proof":      {found: unproven},
		"of the Service alone":       {found: own},
	} {
		r := reconcilerAt(started)
		if tc.made {
			r.observed.Wrote(plan.Batch{Steps: []plan.Step{{ID: plan.StepID{Action: plan.Create, Key: group.Key}, Target: group}}}, []plan.Outcome{plan.Done(group)})
		}
		d := &Draft{Job: Job{Applied: tc.applied}, View: View{read: started.Add(tc.read)}, Desired: Desired{Want: &stack.Stack{Resources: []stack.Resource{group, own}}}}
		if got := r.recheckAt(d, &stack.Stack{Resources: []stack.Resource{tc.found}}); !got.Equal(tc.want) {
			t.Errorf("%s: reads again at %v, want %v", name, got, tc.want)
		}
	}
}

// TestAddressesAreKeptAfterStart: the addresses in the status are kept until no read can show
// load balancers from before the start.
func TestAddressesAreKeptAfterStart(t *testing.T) {
	started := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(address string) []corev1.LoadBalancerIngress {
		if address == "" {
			return nil
		}
		return []corev1.LoadBalancerIngress{{Hostname: address}}
	}
	own := stack.Resource{Key: stack.Key{Kind: "lb"}, ID: "lb-1"}
	create := plan.Step{ID: plan.StepID{Action: plan.Create, Key: own.Key}, Target: own}
	for name, tc := range map[string]struct {
		said, found string
		read        time.Duration
		made        bool
		steps       []plan.Step
		want        bool
	}{
		"another one":                    {said: "b2", found: "b1", want: true},
		"the same":                       {said: "b1", found: "b1"},
		"the first":                      {found: "b1"},
		"none":                           {said: "b2"},
		"read later":                     {said: "b2", found: "b1", read: observed.StaleRead},
		"another one, which it has made": {said: "b2", found: "b1", made: true},
		"another one, to be changed":     {said: "b2", found: "b1", steps: []plan.Step{create}},
	} {
		r := reconcilerAt(started)
		if tc.made {
			r.observed.Wrote(plan.Batch{Steps: []plan.Step{create}}, []plan.Outcome{plan.Done(own)})
		}
		svc := &corev1.Service{Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: at(tc.said)}}}
		d := &Draft{Job: Job{Service: svc}, View: View{read: started.Add(tc.read)}, Plan: plan.Plan{Steps: tc.steps}}
		if got := r.doubtsAddresses(d, &stack.Stack{Resources: []stack.Resource{own}}, &Result{Serves: []stack.Key{own.Key}, Status: status.Result{Ingress: at(tc.found)}}); got != tc.want {
			t.Errorf("%s: keeps what the Service says: %v", name, got)
		}
	}
}
