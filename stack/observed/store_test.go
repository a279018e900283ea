package observed

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

var (
	balancer = stack.Resource{Key: stack.Key{Kind: "lb"}, ID: "lb-1", Proof: stack.Tag}
	listener = stack.Resource{Key: stack.Key{Kind: "port", Name: "80"}, ID: "port-1", In: balancer.Key, Proof: stack.Derived}
	group    = stack.Resource{Key: stack.Key{Kind: "group"}, ID: "group-1", Ownership: stack.Shared, Proof: stack.Name}
	done     = plan.Outcome{Sent: plan.WasSent}
	lost     = plan.Outcome{Sent: plan.MaybeSent, Err: fault.New(fault.Ambiguous, "cut")}
	refused  = plan.Failed(fault.New(fault.Denied, "no"))
)

func withChange(res stack.Resource, change func(*stack.Resource)) stack.Resource {
	change(&res)
	return res
}

// TestDropDeleted: a read that shows what this process has deleted just before is stale in
// that, for every owner that may have the resource.
func TestDropDeleted(t *testing.T) {
	second := withChange(balancer, func(r *stack.Resource) { r.ID = "lb-2" })
	for name, tc := range map[string]struct {
		step    plan.Step
		outcome plan.Outcome
		again   bool   // it is created again afterwards
		as      string // with this identifier; empty: the call is not answered
		others  []stack.Owner
		reader  stack.Owner
		after   time.Duration
		found   stack.Resource
		want    int // of three that were found
	}{
		"its own":                            {step: stepOf(plan.Delete, balancer), outcome: done, reader: ownerA, found: balancer, want: 1},
		"a part of it alone":                 {step: stepOf(plan.Delete, listener), outcome: done, reader: ownerA, found: balancer, want: 2},
		"shared":                             {step: stepOf(plan.Delete, group), outcome: done, reader: ownerB, found: balancer, want: 2},
		"shared and used by another Service": {step: stepOf(plan.Delete, group), outcome: done, others: []stack.Owner{ownerB}, reader: ownerB, found: balancer, want: 3},
		"of another owner":                   {step: stepOf(plan.Delete, balancer), outcome: done, reader: ownerB, found: balancer, want: 3},
		"of an earlier Service of the name":  {step: stepOf(plan.Delete, balancer), outcome: done, reader: stack.Owner{Namespace: ownerA.Namespace, Name: ownerA.Name, UID: "later"}, found: balancer, want: 1},
		"a second one of that key":           {step: stepOf(plan.Delete, balancer), outcome: done, reader: ownerA, found: second, want: 3},
		"being deleted":                      {step: stepOf(plan.Delete, balancer), outcome: done, reader: ownerA, found: withChange(balancer, func(r *stack.Resource) { r.State = stack.Pending }), want: 3},
		"without proof by now":               {step: stepOf(plan.Delete, balancer), outcome: done, reader: ownerA, found: withChange(balancer, func(r *stack.Resource) { r.Proof = stack.None }), want: 3},
		"created again":                      {step: stepOf(plan.Delete, balancer), outcome: done, again: true, reader: ownerA, found: balancer, want: 3},
		"created again for a later Service":  {step: stepOf(plan.Delete, balancer), outcome: done, again: true, as: "lb-1", reader: stack.Owner{Namespace: ownerA.Namespace, Name: ownerA.Name, UID: "later"}, found: balancer, want: 3},
		"created again as a second one":      {step: stepOf(plan.Delete, balancer), outcome: done, again: true, as: "lb-2", reader: ownerA, found: balancer, want: 1},
		"that second one":                    {step: stepOf(plan.Delete, balancer), outcome: done, again: true, as: "lb-2", reader: ownerA, found: second, want: 3},
		"created again under its name":       {step: stepOf(plan.Delete, balancer), outcome: done, again: true, as: "lb-1", reader: ownerA, found: balancer, want: 3},
		"refused":                            {step: stepOf(plan.Delete, balancer), outcome: refused, reader: ownerA, found: balancer, want: 3},
		"not answered":                       {step: stepOf(plan.Delete, balancer), outcome: lost, reader: ownerA, found: balancer, want: 3},
		"not complete":                       {step: stepOf(plan.Delete, balancer), outcome: plan.Outcome{Sent: plan.WasSent, Wait: time.Second}, reader: ownerA, found: balancer, want: 3},
		"left to an administrator":           {step: stepOf(plan.Delete, balancer), outcome: plan.Outcome{Sent: plan.WasSent, Manual: "ask"}, reader: ownerA, found: balancer, want: 3},
		"long ago":                           {step: stepOf(plan.Delete, balancer), outcome: done, reader: ownerA, after: time.Minute, found: balancer, want: 3},
		"only updated":                       {step: stepOf(plan.Update, balancer), outcome: done, reader: ownerA, found: balancer, want: 3},
	} {
		w := newWorld()
		w.perform(tc.step, tc.outcome, tc.others...)
		if tc.again {
			create := stepOf(plan.Create, balancer)
			create.ID.Owner = tc.reader
			answer := lost
			if tc.as != "" {
				answer = plan.Done(withChange(balancer, func(r *stack.Resource) { r.ID = tc.as }))
			}
			w.perform(create, answer)
		}
		have := &stack.Stack{Owner: tc.reader, Resources: []stack.Resource{tc.found, listener, group}}
		w.store.DropDeleted(have, started.Add(tc.after))
		if diff := cmp.Diff(tc.want, len(have.Resources)); diff != "" {
			t.Errorf("%s: kept (-want +got):\n%s", name, diff)
		}
	}
}

// TestDoubted: what a read shows just after a deletion without an answer may not exist any more.
func TestDoubted(t *testing.T) {
	later := stack.Owner{Namespace: ownerA.Namespace, Name: ownerA.Name, UID: "later"}
	for name, tc := range map[string]struct {
		deleted []plan.Outcome
		again   bool // it is created again
		of      stack.Owner
		found   stack.Resource
		after   time.Duration
		want    bool
	}{
		"not answered":                        {deleted: []plan.Outcome{lost}, of: ownerA, found: balancer, want: true},
		"not answered, for a later Service":   {deleted: []plan.Outcome{lost}, of: later, found: balancer, want: true},
		"not answered, for another Service":   {deleted: []plan.Outcome{lost}, of: ownerB, found: balancer},
		"not answered, then refused":          {deleted: []plan.Outcome{lost, refused}, of: ownerA, found: balancer, want: true},
		"not answered, then confirmed":        {deleted: []plan.Outcome{lost, done}, of: ownerA, found: balancer},
		"not answered, then created":          {deleted: []plan.Outcome{lost}, again: true, of: ownerA, found: balancer},
		"not answered, and another one found": {deleted: []plan.Outcome{lost}, of: ownerA, found: withChange(balancer, func(r *stack.Resource) { r.ID = "lb-2" })},
		"not answered, long ago":              {deleted: []plan.Outcome{lost}, of: ownerA, found: balancer, after: StaleRead},
		"shared, not answered":                {deleted: []plan.Outcome{lost}, of: ownerB, found: group, want: true},
		"refused":                             {deleted: []plan.Outcome{refused}, of: ownerA, found: balancer},
		"confirmed":                           {deleted: []plan.Outcome{done}, of: ownerA, found: balancer},
	} {
		w := newWorld()
		for _, outcome := range tc.deleted {
			w.perform(stepOf(plan.Delete, withChange(tc.found, func(r *stack.Resource) {
				if r.Ownership == stack.Owned {
					r.ID = balancer.ID
				}
			})), outcome)
		}
		if tc.again {
			w.perform(stepOf(plan.Create, balancer), plan.Done(balancer))
		}
		want := time.Time{}
		if tc.want {
			want = started.Add(StaleRead)
		}
		got := w.store.DoubtedUntil(&stack.Stack{Owner: tc.of, Resources: []stack.Resource{tc.found}}, started.Add(tc.after))
		if !got.Equal(want) {
			t.Errorf("%s: doubted until %v, want %v", name, got, want)
		}
	}
}

// TestUnseen: a read that lacks what was created just before, and was not deleted for certain,
// does not prove that it does not exist.
func TestUnseen(t *testing.T) {
	shared := withChange(group, func(*stack.Resource) {})
	for name, tc := range map[string]struct {
		created stack.Resource
		how     plan.Outcome
		deleted *plan.Outcome
		as      stack.Key // its key when it was deleted; zero: as when it was created
		of      stack.Owner
		shown   stack.Resource
		after   time.Duration
		others  claims // when the release ends
		want    time.Duration
	}{
		"shown, of another owner now": {created: balancer, how: plan.Done(balancer), of: ownerA, shown: balancer},
		"another resource shown":      {created: balancer, how: plan.Done(balancer), of: ownerA, shown: listener, want: StaleRead},
		"created":                     {created: balancer, how: done, of: ownerA, after: time.Second, want: StaleRead - time.Second},
		"perhaps created":             {created: balancer, how: lost, of: ownerA, want: StaleRead},
		"not created":                 {created: balancer, how: refused, of: ownerA},
		"deleted":                     {created: balancer, how: done, deleted: &done, of: ownerA},
		"deleted under another key":   {created: balancer, how: plan.Done(balancer), deleted: &done, as: stack.Key{Kind: "lb", Name: "orphan"}, of: ownerA},
		"left to others":              {created: balancer, how: done, deleted: &plan.Outcome{Sent: plan.WasSent, Gone: []stack.Key{balancer.Key}}, as: stack.Key{Kind: "share"}, of: ownerA},
		"another one deleted":         {created: balancer, how: done, deleted: &done, as: stack.Key{Kind: "share"}, of: ownerA, want: StaleRead},
		"being deleted":               {created: balancer, how: done, deleted: &plan.Outcome{Sent: plan.WasSent, Wait: time.Second}, of: ownerA},
		"perhaps deleted":             {created: balancer, how: done, deleted: &lost, of: ownerA, want: StaleRead},
		"long ago":                    {created: balancer, how: done, of: ownerA, after: time.Minute},
		"of another owner":            {created: balancer, how: done, of: ownerB},
		"a part":                      {created: listener, how: done, of: ownerA},
		"shared":                      {created: shared, how: done, of: ownerA},
		"shared, perhaps deleted":     {created: shared, how: done, deleted: &lost, of: ownerA, after: time.Second, want: StaleRead - time.Second},
		"shared, claimed since":       {created: shared, how: done, deleted: &lost, of: ownerA, others: claims{ownerB}},
		"shared, not deleted":         {created: shared, how: done, deleted: &refused, of: ownerA, want: StaleRead},
		"shared, left by the call":    {created: shared, how: done, deleted: &plan.Outcome{}, of: ownerA},
		"shared, deleted":             {created: shared, how: done, deleted: &done, of: ownerA},
		"shared, deleted by another":  {created: shared, how: done, deleted: &lost, of: ownerB},
	} {
		w := newWorld()
		w.perform(stepOf(plan.Create, tc.created), tc.how)
		if tc.deleted != nil {
			target := tc.created
			if tc.as != (stack.Key{}) {
				target.Key = tc.as
			}
			w.perform(stepOf(plan.Delete, target), *tc.deleted)
		}
		shown := &stack.Stack{Resources: []stack.Resource{tc.shown}}
		if got := max(0, w.store.Unseen(tc.of, shown, started.Add(tc.after), tc.others)); got != tc.want {
			t.Errorf("%s: may not appear for %v, want %v", name, got, tc.want)
		}
	}
}

// TestRemovedSince: what was known before a deletion ended may be wrong, what was read after it
// is not.
func TestRemovedSince(t *testing.T) {
	w := newWorld()
	check := func(what string, known time.Time, wantOngoing, wantRemoved bool) {
		t.Helper()
		if ongoing, removed := w.store.RemovedSince(group, known); ongoing != nil != wantOngoing || removed != wantRemoved {
			t.Errorf("%s: ongoing %v, removed %v", what, ongoing != nil, removed)
		}
	}
	b := plan.Batch{Steps: []plan.Step{stepOf(plan.Delete, group)}}
	check("never deleted", started, false, false)
	w.store.Begin(b)
	w.store.Begin(b)
	ongoing, _ := w.store.RemovedSince(group, started)
	w.pass(time.Second)
	w.store.Wrote(b, []plan.Outcome{refused})
	check("one of two calls has ended", started.Add(time.Hour), true, true)
	select {
	case <-ongoing:
		t.Error("a deletion counts as ended while another call of it is under way")
	default:
	}
	w.pass(time.Second)
	w.store.Wrote(b, nil)
	<-ongoing
	check("known before the end", started.Add(2*time.Second), false, true)
	check("read afterwards", started.Add(3*time.Second), false, false)
	w.pass(48 * time.Hour)
	w.perform(stepOf(plan.Update, balancer), done)
	check("long ago", started, false, false)
}

// TestSweep: a store does not grow with what it has seen.
func TestSweep(t *testing.T) {
	w := newWorld()
	for range 100 {
		w.pass(time.Minute)
		w.perform(removeNode("c", "a", "b"), done)
	}
	late := &stack.Stack{Resources: []stack.Resource{poolOf("a", "b", "c")}}
	if got := sizeOf(w.store); got > 1+2*int(interval/time.Minute) {
		t.Errorf("%d records and updates after %d updates in an interval", got, int(interval/time.Minute))
	}
	w.pass(48 * time.Hour)
	w.perform(stepOf(plan.Update, balancer), done)
	if got := sizeOf(w.store); got != 0 {
		t.Errorf("%d records and updates after two days", got)
	}
	if now := w.store.Overlay(late, w.now); now != late {
		t.Error("an update of two days ago is added to a new read")
	}
}

// sizeOf returns the number of records and updates that a store holds.
func sizeOf(s *Store) int {
	n := 0
	for _, places := range s.records {
		n += len(places)
		for _, r := range places {
			n += len(r.updates)
		}
	}
	return n
}
