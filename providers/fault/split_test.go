package fault_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/fault"
)

// cloud takes numbers, unless one of them is bad.
type cloud struct {
	bad   []int
	fail  error // answered to every call from the failAt-th on
	at    int
	calls int
	in    []int
}

func (c *cloud) call(members []int) error {
	c.calls++
	if c.fail != nil && c.calls >= c.at {
		return c.fail
	}
	for _, m := range members {
		if slices.Contains(c.bad, m) {
			return fault.New(fault.Invalid, "one of %d is bad", len(members))
		}
	}
	c.in = append(c.in, members...)
	return nil
}

func countUp(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestSplit(t *testing.T) {
	throttled := fault.New(fault.Throttled, "slower")
	for _, tc := range []struct {
		name        string
		members     int
		cloud       cloud
		budget      int
		wantRefused []int
		wantPending int
		wantCalls   int
		wantErr     error
	}{
		{name: "nothing to do makes no call", budget: 16},
		{name: "all good is one call", members: 200, budget: 16, wantCalls: 1},
		{name: "one bad is found", members: 200, cloud: cloud{bad: []int{137}}, budget: 16, wantRefused: []int{137}, wantCalls: 9},
		{name: "one bad member alone", members: 1, cloud: cloud{bad: []int{0}}, budget: 16, wantRefused: []int{0}, wantCalls: 1},
		{name: "all bad", members: 4, cloud: cloud{bad: []int{0, 1, 2, 3}}, budget: 16, wantRefused: []int{0, 1, 2, 3}, wantCalls: 7},
		{name: "no budget leaves all for the next run", members: 8, cloud: cloud{bad: []int{3}}, wantPending: 8, wantCalls: 1},
		{name: "the budget is kept", members: 200, cloud: cloud{bad: []int{3, 80, 150}}, budget: 16, wantRefused: []int{3, 80}, wantPending: 119, wantCalls: 17},
		{name: "an untried member is not rejected", members: 2, cloud: cloud{bad: []int{0}}, budget: 1, wantRefused: []int{0}, wantPending: 1, wantCalls: 2},
		{name: "another fault ends the search", members: 8, cloud: cloud{bad: []int{0}, fail: throttled, at: 3}, budget: 16, wantCalls: 3, wantErr: throttled},
		{name: "a throttled first call is not repeated", members: 8, cloud: cloud{fail: throttled, at: 1}, budget: 16, wantCalls: 1, wantErr: throttled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := tc.cloud
			refused, err := fault.Split(countUp(tc.members), tc.budget, c.call)
			if err != tc.wantErr {
				t.Errorf("err = %v, want %v", err, tc.wantErr)
			}
			var named []int
			pending := 0
			for _, r := range refused {
				if fault.Is(r.Err, fault.Pending) {
					pending++
				} else {
					named = append(named, r.Member)
				}
			}
			if diff := cmp.Diff(tc.wantRefused, named); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
			if pending != tc.wantPending || c.calls != tc.wantCalls {
				t.Errorf("pending %d, calls %d, want %d and %d", pending, c.calls, tc.wantPending, tc.wantCalls)
			}
			if err == nil && len(c.in)+len(refused) != tc.members {
				t.Errorf("%d in and %d refused of %d", len(c.in), len(refused), tc.members)
			}
		})
	}
}
