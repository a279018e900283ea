package fault_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/berth-lb/berth/providers/fault"
)

// badOnes are b of n, spread evenly or anywhere.
func badOnes(b, n int, seed uint64) []int {
	var out []int
	if seed == 0 {
		for i := range b {
			out = append(out, i*n/b)
		}
		return out
	}
	return rand.New(rand.NewPCG(seed, 1)).Perm(n)[:b]
}

// run tries what is not in yet, as the next run of a Service would.
func (c *cloud) run(s *fault.Suspects, n, budget int) (pending int, err error) {
	missing := slices.DeleteFunc(countUp(n), func(m int) bool { return slices.Contains(c.in, m) })
	refused, err := fault.SplitAmong(s, "target", missing, strconv.Itoa, budget, c.call)
	for _, r := range refused {
		if fault.Is(r.Err, fault.Pending) {
			pending++
			if fault.After(r.Err) == 0 {
				return pending, r.Err
			}
		}
	}
	return pending, err
}

// TestManyBadMembers: with b bad of n, all good ones are in after at most two runs
// and b*log2(n)+O(b) calls.
func TestManyBadMembers(t *testing.T) {
	for _, tc := range []struct{ bad, of int }{{1, 1000}, {4, 1000}, {10, 1000}, {30, 210}, {16, 50}} {
		for seed := range uint64(20) {
			c := cloud{bad: badOnes(tc.bad, tc.of, seed)}
			s, runs := &fault.Suspects{}, 0
			for len(c.in) < tc.of-tc.bad && runs < 10 {
				runs++
				if _, err := c.run(s, tc.of, fault.MaxSplits); err != nil {
					t.Fatal(err)
				}
			}
			most := float64(tc.bad)*math.Log2(float64(tc.of)) + 3*float64(tc.bad) + 2
			if runs > 2 || float64(c.calls) > most {
				t.Errorf("%d bad of %d, seed %d: all good ones in after %d runs and %d calls; want 2 and %.0f", tc.bad, tc.of, seed, runs, c.calls, most)
			}
		}
	}
}

// TestSmallBudgets: with any budget for one run, all runs together need no more calls,
// since each continues with the findings of the last one.
func TestSmallBudgets(t *testing.T) {
	for _, tc := range []struct{ bad, of, budget int }{{4, 50, 16}, {8, 50, 16}, {10, 1000, 16}, {50, 100, 16}} {
		c := cloud{bad: badOnes(tc.bad, tc.of, 3)}
		s := &fault.Suspects{}
		for range 100 {
			if _, err := c.run(s, tc.of, tc.budget); err != nil {
				t.Fatal(err)
			}
			if len(c.in) == tc.of-tc.bad {
				break
			}
		}
		if most := float64(tc.bad)*math.Log2(float64(tc.of)) + 6*float64(tc.bad) + 8; len(c.in) < tc.of-tc.bad || float64(c.calls) > most {
			t.Errorf("%d bad of %d: %d in after %d calls; want all and %.0f", tc.bad, tc.of, len(c.in), c.calls, most)
		}
	}
}

// TestRefusedBefore: a member that was refused is sent alone and last, within the budget;
// a member that has become valid is accepted, and its refusal is forgotten.
func TestRefusedBefore(t *testing.T) {
	c := cloud{bad: []int{3, 5}}
	s := &fault.Suspects{}
	if _, err := c.run(s, 8, fault.MaxSplits); err != nil || len(c.in) != 6 {
		t.Fatalf("%v, in: %v", err, c.in)
	}
	var asked [][]int
	ask := func(members []int) error {
		asked = append(asked, members)
		return c.call(members)
	}
	c.bad = []int{3}
	refused, err := fault.SplitAmong(s, "target", []int{3, 5, 8, 9}, strconv.Itoa, fault.MaxSplits, ask)
	if err != nil || len(refused) != 1 || refused[0].Member != 3 || len(asked) != 3 || !slices.Equal(asked[0], []int{8, 9}) {
		t.Errorf("err %v, refused %v, asked %v", err, refused, asked)
	}
	asked = nil
	refused, err = fault.SplitAmong(s, "target", []int{3, 5, 10}, strconv.Itoa, 0, ask)
	if err != nil || len(refused) != 1 || !fault.Is(refused[0].Err, fault.Invalid) || len(asked) != 1 {
		t.Errorf("without a budget: err %v, refused %v, asked %v", err, refused, asked)
	}
	asked = nil
	if _, err = fault.SplitAmong(s, "another target", []int{3, 5}, strconv.Itoa, 0, ask); err != nil || len(asked) != 1 || len(asked[0]) != 2 {
		t.Errorf("another target: err %v, asked %v", err, asked)
	}
}

// TestUndecidedSaysNothingOfOthers: the error of a pending member contains no word of
// the cloud's refusal, which may concern another Service.
func TestUndecidedSaysNothingOfOthers(t *testing.T) {
	refused, err := fault.Split(countUp(4), 0, func([]int) error { return fault.New(fault.Invalid, "secret of another") })
	if err != nil || len(refused) != 4 {
		t.Fatalf("%v, %v", err, refused)
	}
	for _, r := range refused {
		if got := r.Err.Error(); !fault.Is(r.Err, fault.Pending) || got != "not decided yet: it was sent in one call with others, which was refused, and is retried separately" {
			t.Errorf("got %q", got)
		}
	}
}
