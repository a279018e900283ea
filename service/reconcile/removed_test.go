package reconcile

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// TestWhatWasRemovedIsNotBelieved: a read that shows what this process has removed just
// before is not believed in that, whoever of those that may have it reads.
func TestWhatWasRemovedIsNotBelieved(t *testing.T) {
	const (
		lb     stack.Kind = "lb"
		port   stack.Kind = "port"
		shared stack.Kind = "shared"
	)
	ended := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a, b := stack.Owner{Namespace: "shop", Name: "a", UID: "a"}, stack.Owner{Namespace: "shop", Name: "b", UID: "b"}
	balancer := stack.Resource{Key: stack.Key{Kind: lb}, ID: "lb-1", Proof: stack.Tag}
	listener := stack.Resource{Key: stack.Key{Kind: port, Name: "80"}, ID: "port-1", In: balancer.Key, Proof: stack.Derived}
	group := stack.Resource{Key: stack.Key{Kind: shared}, ID: "group-1", Ownership: stack.Shared, Proof: stack.Name}
	another := func(change func(*stack.Resource)) stack.Resource {
		res := balancer
		change(&res)
		return res
	}
	step := func(action plan.Action, res stack.Resource) plan.Step {
		return plan.Step{ID: plan.StepID{Owner: a, Action: action, Key: res.Key}, Target: res}
	}
	done := plan.Outcome{Sent: plan.WasSent}
	for name, tc := range map[string]struct {
		step    plan.Step
		outcome plan.Outcome
		again   bool   // it is made again afterwards
		as      string // with this identifier; none: that is not known
		wanted  bool   // by another one
		reader  stack.Owner
		after   time.Duration
		found   stack.Resource
		want    int // of three that were found
	}{
		"its own":                        {step: step(plan.Delete, balancer), outcome: done, reader: a, found: balancer, want: 1},
		"a part of it alone":             {step: step(plan.Delete, listener), outcome: done, reader: a, found: balancer, want: 2},
		"shared":                         {step: step(plan.Delete, group), outcome: done, reader: b, found: balancer, want: 2},
		"shared, and wanted by another":  {step: step(plan.Delete, group), outcome: done, wanted: true, reader: b, found: balancer, want: 3},
		"of the same key, but another's": {step: step(plan.Delete, balancer), outcome: done, reader: b, found: balancer, want: 3},
		"another one of that key":        {step: step(plan.Delete, balancer), outcome: done, reader: a, found: another(func(r *stack.Resource) { r.ID = "lb-2" }), want: 3},
		"on its way out":                 {step: step(plan.Delete, balancer), outcome: done, reader: a, found: another(func(r *stack.Resource) { r.State = stack.Pending }), want: 3},
		"somebody else's by now":         {step: step(plan.Delete, balancer), outcome: done, reader: a, found: another(func(r *stack.Resource) { r.Proof = stack.None }), want: 3},
		"made again":                     {step: step(plan.Delete, balancer), outcome: done, again: true, reader: a, found: balancer, want: 3},
		"made again, as another one":     {step: step(plan.Delete, balancer), outcome: done, again: true, as: "lb-2", reader: a, found: balancer, want: 1},
		"that other one":                 {step: step(plan.Delete, balancer), outcome: done, again: true, as: "lb-2", reader: a, found: another(func(r *stack.Resource) { r.ID = "lb-2" }), want: 3},
		"made again under its name":      {step: step(plan.Delete, balancer), outcome: done, again: true, as: "lb-1", reader: a, found: balancer, want: 3},
		"refused":                        {step: step(plan.Delete, balancer), outcome: plan.Failed(fault.New(fault.Denied, "no")), reader: a, found: balancer, want: 3},
		"not answered":                   {step: step(plan.Delete, balancer), outcome: plan.Outcome{Sent: plan.MaybeSent, Err: fault.New(fault.Ambiguous, "cut")}, reader: a, found: balancer, want: 3},
		"not over":                       {step: step(plan.Delete, balancer), outcome: plan.Outcome{Sent: plan.WasSent, Wait: time.Second}, reader: a, found: balancer, want: 3},
		"left to others":                 {step: step(plan.Delete, balancer), outcome: plan.Outcome{Sent: plan.WasSent, Manual: "ask"}, reader: a, found: balancer, want: 3},
		"long ago":                       {step: step(plan.Delete, balancer), outcome: done, reader: a, after: time.Minute, found: balancer, want: 3},
		"only changed":                   {step: step(plan.Update, balancer), outcome: done, reader: a, found: balancer, want: 3},
	} {
		r, book := newRemoved(), ledger.New()
		if tc.wanted {
			book.Enter(b, []stack.Resource{group})
		}
		r.end(plan.Batch{Steps: []plan.Step{tc.step}}, []plan.Outcome{tc.outcome}, ended, book)
		if tc.again {
			batch := plan.Batch{Steps: []plan.Step{step(plan.Create, balancer)}}
			r.begin(batch)
			if tc.as != "" {
				r.end(batch, []plan.Outcome{plan.Done(another(func(r *stack.Resource) { r.ID = tc.as }))}, ended, book)
			}
		}
		have := &stack.Stack{Resources: []stack.Resource{tc.found, listener, group}}
		r.outOf(have, tc.reader, ended.Add(tc.after))
		if diff := cmp.Diff(tc.want, len(have.Resources)); diff != "" {
			t.Errorf("%s: believed (-want +got):\n%s", name, diff)
		}
	}
}

// TestWhatWasMadeMayNotBeShown: that nothing is shown of what was made just before, and was
// not removed for certain, does not say that it is gone.
func TestWhatWasMadeMayNotBeShown(t *testing.T) {
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a, b := stack.Owner{Namespace: "shop", Name: "a", UID: "a"}, stack.Owner{Namespace: "shop", Name: "b", UID: "b"}
	balancer := stack.Resource{Key: stack.Key{Kind: "lb"}, ID: "lb-1"}
	listener := stack.Resource{Key: stack.Key{Kind: "port"}, ID: "port-1", In: balancer.Key}
	shared := stack.Resource{Key: stack.Key{Kind: "group"}, ID: "group-1", Ownership: stack.Shared}
	done := plan.Outcome{Sent: plan.WasSent}
	lost := plan.Outcome{Sent: plan.MaybeSent, Err: fault.New(fault.Ambiguous, "cut")}
	for name, tc := range map[string]struct {
		made    stack.Resource
		how     plan.Outcome
		removed *plan.Outcome
		as      stack.Key // how what was removed was called then; none: as when it was made
		of      stack.Owner
		shown   stack.Resource
		after   time.Duration
		want    time.Duration
	}{
		"shown, and another's now":   {made: balancer, how: plan.Outcome{Sent: plan.WasSent, After: balancer}, of: a, shown: balancer},
		"another one shown":          {made: balancer, how: plan.Outcome{Sent: plan.WasSent, After: balancer}, of: a, shown: listener, want: shownFor},
		"made":                       {made: balancer, how: done, of: a, after: time.Second, want: shownFor - time.Second},
		"perhaps made":               {made: balancer, how: lost, of: a, want: shownFor},
		"not made":                   {made: balancer, how: plan.Failed(fault.New(fault.Denied, "no")), of: a},
		"removed":                    {made: balancer, how: done, removed: &done, of: a},
		"removed under another key":  {made: balancer, how: plan.Outcome{Sent: plan.WasSent, After: balancer}, removed: &done, as: stack.Key{Kind: "lb", Name: "orphan"}, of: a},
		"left to others":             {made: balancer, how: done, removed: &plan.Outcome{Sent: plan.WasSent, Gone: []stack.Key{balancer.Key}}, as: stack.Key{Kind: "share"}, of: a},
		"another one removed":        {made: balancer, how: done, removed: &done, as: stack.Key{Kind: "share"}, of: a, want: shownFor},
		"on its way out":             {made: balancer, how: done, removed: &plan.Outcome{Sent: plan.WasSent, Wait: time.Second}, of: a},
		"perhaps removed":            {made: balancer, how: done, removed: &lost, of: a, want: shownFor},
		"long ago":                   {made: balancer, how: done, of: a, after: time.Minute},
		"another's":                  {made: balancer, how: done, of: b},
		"in what goes with it":       {made: listener, how: done, of: a},
		"shared, and nobody's alone": {made: shared, how: done, of: a},
	} {
		r, book := newRemoved(), ledger.New()
		step := func(action plan.Action, outcome plan.Outcome) {
			target := tc.made
			if action == plan.Delete && tc.as != (stack.Key{}) {
				target.Key = tc.as
			}
			batch := plan.Batch{Steps: []plan.Step{{ID: plan.StepID{Owner: a, Action: action, Key: target.Key}, Target: target}}}
			r.begin(batch)
			r.end(batch, []plan.Outcome{outcome}, made, book)
		}
		step(plan.Create, tc.how)
		if tc.removed != nil {
			step(plan.Delete, *tc.removed)
		}
		if got := max(0, r.unseen(tc.of, &stack.Stack{Resources: []stack.Resource{tc.shown}}, made.Add(tc.after))); got != tc.want {
			t.Errorf("%s: may not be shown for %v, want %v", name, got, tc.want)
		}
	}
}

// TestANewcomerLooksAgain: what a Service shares and was found just after the start may be
// what a predecessor has removed; it is looked for again when no read shows that any more.
func TestANewcomerLooksAgain(t *testing.T) {
	started := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	group := stack.Resource{Key: stack.Key{Kind: "group"}, ID: "group-1", Ownership: stack.Shared, Proof: stack.Name}
	own := stack.Resource{Key: stack.Key{Kind: "lb"}, ID: "lb-1", Proof: stack.Tag}
	unproven := group
	unproven.Proof = stack.None
	later := started.Add(shownFor)
	for name, tc := range map[string]struct {
		applied string
		read    time.Duration
		made    bool
		found   stack.Resource
		want    time.Time
	}{
		"shared":                      {found: group, want: later},
		"shared, and made by itself":  {found: group, made: true},
		"shared, and served before":   {found: group, applied: "digest"},
		"read later":                  {found: group, read: time.Minute},
		"shared, and nobody's so far": {found: unproven},
		"of the Service alone":        {found: own},
	} {
		n := newNewcomer(started)
		if tc.made {
			n.note(plan.Batch{Steps: []plan.Step{{ID: plan.StepID{Action: plan.Create, Key: group.Key}, Target: group}}}, []plan.Outcome{plan.Done(group)}, started)
		}
		d := &Draft{Job: Job{Applied: tc.applied}, read: started.Add(tc.read), Want: &stack.Stack{Resources: []stack.Resource{group, own}}}
		if got := n.doubts(d, &stack.Stack{Resources: []stack.Resource{tc.found}}); !got.Equal(tc.want) {
			t.Errorf("%s: looks again at %v, want %v", name, got, tc.want)
		}
	}
}

// TestANewcomerKeepsAddresses: what a Service says is where clients are, until the cloud cannot
// show any more what was there before the start.
func TestANewcomerKeepsAddresses(t *testing.T) {
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
		"read later":                     {said: "b2", found: "b1", read: shownFor},
		"another one, which it has made": {said: "b2", found: "b1", made: true},
		"another one, to be changed":     {said: "b2", found: "b1", steps: []plan.Step{create}},
	} {
		n := newNewcomer(started)
		if tc.made {
			n.note(plan.Batch{Steps: []plan.Step{create}}, []plan.Outcome{plan.Done(own)}, started)
		}
		svc := &corev1.Service{Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: at(tc.said)}}}
		d := &Draft{Job: Job{Service: svc}, read: started.Add(tc.read), Plan: plan.Plan{Steps: tc.steps}}
		if got := n.keeps(d, &Result{Serves: []stack.Key{own.Key}, Status: status.Result{Ingress: at(tc.found)}}); got != tc.want {
			t.Errorf("%s: keeps what the Service says: %v", name, got)
		}
	}
}
